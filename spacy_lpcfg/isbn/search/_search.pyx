"""Beam search over derivations, word by word (section 6 of Henderson and Titov 2010).

After each word the search holds a beam of hypotheses that have shifted it. From these it goes best-first through the
steps up to the next Shift.

Differs from the paper: the step that shifts is scored at once with tag and word, for several tags where they are not
given; and the search for a word ends when the worst of the beam is better than any hypothesis left could become, if it
shifted with as high a probability as the best so far (and by a margin more).

A softmax over words is left out where it can make no difference: log P of a tag and a word under it are concave in the
means, so that their tangents at the means of one hypothesis bound them at those of all others.
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, exp
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.mean_field cimport mix, product_of
from spacy_lpcfg.isbn.search._networks cimport (
    ACTIONS, ATTACH, DONE, NONE, PROJECT, SHIFT, TAG, Model, NetworkTable, Networks, Scorer, SentenceWords)
from spacy_lpcfg.isbn.search._positions cimport History, Hypothesis, Positions, State, constituents_of
from spacy_lpcfg.vectors cimport copy, fill

cdef extern from "<algorithm>" namespace "std" nogil:    # in libcpp they may raise; of numbers they do not
    void pop_heap[Iterator, Compare](Iterator first, Iterator end, Compare compare)
    void push_heap[Iterator, Compare](Iterator first, Iterator end, Compare compare)
    void sort[Iterator, Compare](Iterator first, Iterator end, Compare compare)

cdef double ROUNDING = 1e-4      # more than that of single floats adds to a bound


# The agenda and the beam --------------------------------------------------------------------------


cdef struct Item:            # of the agenda
    double log_probability
    int32_t state            # from which the step is taken; -1 - i: no step, from hypothesis i of the beam
    int32_t action


cdef struct Shifted:
    double log_probability
    int32_t state
    int32_t candidate
    int32_t theta            # where the means belong to branches: number of their logits before the word


@cython.final
cdef class Beam:
    """The agenda of the search for a word, and the beam after it.

    size (int): hypotheses that are kept.
    margin (float): as in `BeamSettings`.
    """

    cdef int size
    cdef double margin
    cdef double best_shift                    # log P of a Shift with its tag and word, at most
    cdef vector[Item] agenda                  # a heap with the best in front
    cdef vector[Shifted] shifted              # a heap with the worst in front

    def __init__(self, int size, double margin):
        self.size, self.margin = size, margin

    cdef void begin(self) noexcept nogil:
        """Begin the search for a word."""
        self.agenda.clear()
        self.shifted.clear()
        self.best_shift = -INFINITY

    cdef int put(self, double log_probability, int32_t state, int32_t action) except -1 nogil:
        """Put a step on the agenda, if it is possible."""
        cdef Item item
        if not log_probability > -INFINITY:
            return 0
        item.log_probability, item.state, item.action = log_probability, state, action
        self.agenda.push_back(item)
        push_heap(self.agenda.begin(), self.agenda.end(), is_worse)

    cdef Item pop(self) noexcept nogil:
        """Take the best step from the agenda."""
        cdef Item item = self.agenda.front()
        pop_heap(self.agenda.begin(), self.agenda.end(), is_worse)
        self.agenda.pop_back()
        return item

    cdef int32_t make_room(self) noexcept nogil:
        """Drop the worst Shift of a full beam; the number of its theta, which is free now, or NONE."""
        cdef int32_t theta
        if not self.is_full():
            return NONE
        pop_heap(self.shifted.begin(), self.shifted.end(), is_better)
        theta = self.shifted.back().theta
        self.shifted.pop_back()
        return theta

    cdef int keep(self, const Shifted& new) except -1 nogil:
        """Add a Shift to a beam that has room for it."""
        self.shifted.push_back(new)
        push_heap(self.shifted.begin(), self.shifted.end(), is_better)

    cdef void sort_shifted(self) noexcept nogil:
        """Sort the Shifts, best first, after which they are no heap."""
        sort(self.shifted.begin(), self.shifted.end(), is_better)

    cdef inline bint is_full(self) noexcept nogil:
        return <int>self.shifted.size() == self.size

    cdef inline double threshold(self) noexcept nogil:
        """What a hypothesis must exceed to enter the beam."""
        return self.shifted.front().log_probability if self.is_full() else -INFINITY

    cdef inline bint may_enter(self, double log_probability) noexcept nogil:
        """Whether a hypothesis that has not shifted yet is worth following."""
        return log_probability > -INFINITY and not (
            log_probability + self.best_shift + self.margin < self.threshold())


cdef bint is_worse(const Item& x, const Item& y) noexcept nogil:
    return x.log_probability < y.log_probability


cdef bint is_better(const Shifted& x, const Shifted& y) noexcept nogil:
    return x.log_probability > y.log_probability


# Bounds -------------------------------------------------------------------------------------------


@cython.final
cdef class Tangents:
    """Tangents of the log-probabilities of a word's candidates, which are concave in the means: upper bounds.

    Each candidate that has tangents has two: of the word under its tag (0), and of tag and word together (1).
    """

    cdef Networks networks
    cdef const Model* model
    cdef int first
    cdef vector[int32_t] number_of            # (n_candidates of the word,): of its tangents, or NONE
    cdef vector[float] slopes                 # (n, 2, width): of the word; of tag and word together
    cdef vector[double] intercepts            # (n, 2)
    cdef vector[float] tag_weights            # (n_tags,)

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.tag_weights.resize(self.model.first_word - self.model.n_actions)

    cdef int begin(self, int first, int end) except -1 nogil:
        """Begin a word that has these candidates: none has tangents yet."""
        self.first = first
        self.slopes.clear()
        self.intercepts.clear()
        fill(self.number_of, end - first, NONE)

    cdef double bound(self, int candidate, int which, const float* means) noexcept nogil:
        """An upper bound at some means of log P of a word under its tag (which = 0), or of both (1)."""
        cdef size_t number = 2 * self.number_of[candidate - self.first] + which
        cdef int width = self.model.width
        return self.intercepts[number] + product_of(&self.slopes[number * width], means, width) + ROUNDING

    cdef int draw(self, int candidate, int tag, int outcome, const float* means, double log_word,
                  const float* word_weights, const float* log_tags) except -1 nogil:
        """Draw the tangents of a candidate at some means.

        log_word: of the word under its tag; word_weights: proportional to P of all words of the tag.
        log_tags: of all tags.
        """
        cdef const Model* n = self.model
        cdef int d, i, width = n.width
        cdef float* slopes
        cdef size_t number = self.intercepts.size()
        self.number_of[candidate - self.first] = <int32_t>(number / 2)
        self.slopes.resize((number + 2) * width)
        slopes = &self.slopes[number * width]
        self.slope(slopes, outcome, n.word_offsets[tag], n.word_offsets[tag + 1], word_weights)
        for d in range(n.first_word - n.n_actions):
            self.tag_weights[d] = exp(log_tags[d])
        self.slope(slopes + width, n.n_actions + tag, n.n_actions, n.first_word, &self.tag_weights[0])
        for i in range(width):
            slopes[width + i] += slopes[i]
        self.intercepts.push_back(log_word - product_of(slopes, means, width))
        self.intercepts.push_back(log_word + log_tags[tag] - product_of(slopes + width, means, width))

    cdef void slope(self, float* slope, int outcome, int first, int end, const float* weights) noexcept nogil:
        """The gradient by the means of an outcome's log P, where those of its range are proportional to weights."""
        cdef const NetworkTable* table
        cdef const float* own
        cdef double total = 0
        cdef int k, d, i
        for d in range(end - first):
            total += weights[d]
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            mix(slope + table.start, weights, table.outcome_weights + <size_t>first * table.width, end - first,
                table.n_states)
            own = table.outcome_weights + <size_t>outcome * table.width
            for i in range(table.width):
                slope[table.start + i] = (own[i] - slope[table.start + i] / total) / self.model.n_networks

    cdef inline bint are_drawn(self, int candidate) noexcept nogil:
        return self.number_of[candidate - self.first] >= 0


# Steps from a state -------------------------------------------------------------------------------


@cython.final
cdef class Expansion:
    """Expands the states of the search for a word.

    branching, unary_cap (int): as in `BeamSettings`.
    """

    cdef const Model* model
    cdef SentenceWords words
    cdef History history
    cdef Scorer scorer
    cdef Positions positions
    cdef Beam beam
    cdef Tangents tangents
    cdef int branching, unary_cap
    cdef int first, end                       # candidates of the next word
    cdef double log_shift                     # of the state at hand
    cdef vector[float] log_actions            # (n_actions,)
    cdef vector[float] log_tags               # (n_tags,)
    cdef vector[int32_t] order                # of the candidates
    cdef vector[float] action_theta           # (width,), and so the rest: after the action
    cdef vector[float] action_means
    cdef vector[float] tag_theta              # after action and tag
    cdef vector[float] tag_means

    def __init__(self, Positions positions, Beam beam, int branching, int unary_cap):
        cdef const Model* n = positions.model
        self.positions, self.beam, self.model, self.words = positions, beam, n, positions.words
        self.history, self.scorer = positions.history, positions.scorer
        self.tangents = Tangents(positions.words.networks)
        self.branching, self.unary_cap = branching, unary_cap
        self.log_actions.resize(n.n_actions)
        self.log_tags.resize(n.first_word - n.n_actions)
        self.action_theta.resize(n.width)
        self.action_means.resize(n.width)
        self.tag_theta.resize(n.width)
        self.tag_means.resize(n.width)

    cdef int begin(self, int first, int end) except -1 nogil:
        """Begin the search for a word that has these candidates."""
        self.first, self.end = first, end
        self.tangents.begin(first, end)

    # Actions

    cdef int expand(self, int s, double log_probability, bint is_end) except -1 nogil:
        """Score what may come after a state."""
        cdef int32_t cell = self.positions.states[s].cell
        cdef const uint8_t* mask = self.history.mask(cell)
        cdef const float* means = self.positions.means_of(s)
        if mask == NULL:
            self.log_shift = 0
            if not is_end:
                self.shift(s, log_probability, means, NULL)
            return 0
        self.score_actions(s, means, is_end)
        self.log_shift = self.log_actions[SHIFT]
        if self.log_actions[SHIFT] > -INFINITY:
            self.shift(s, log_probability + self.log_actions[SHIFT], means, mask)
            self.log_actions[SHIFT] = -INFINITY
        if is_end and self.history.is_last(cell):
            self.beam.put(log_probability + self.log_actions[ATTACH], s, DONE)
            self.log_actions[ATTACH] = -INFINITY
        self.follow_actions(s, log_probability)

    cdef int follow_actions(self, int s, double log_probability) except -1 nogil:
        """Put the likeliest actions on the agenda."""
        cdef int i, best
        for i in range(self.branching):
            best = self.best_action()
            if not self.beam.may_enter(log_probability + self.log_actions[best]):
                break
            self.beam.put(log_probability + self.log_actions[best], s, best)
            self.log_actions[best] = -INFINITY

    cdef void score_actions(self, int s, const float* means, bint is_end) noexcept nogil:
        """log P of each action at a state whose top is not the root; -inf of those that are refused."""
        cdef int32_t cell = self.positions.states[s].cell
        cdef int a
        self.scorer.decide(ACTIONS, 0, self.model.n_actions, self.history.mask(cell), means, &self.log_actions[0])
        if self.positions.states[s].n_projected >= self.unary_cap:
            for a in range(PROJECT, self.model.n_actions):
                self.log_actions[a] = -INFINITY
        if is_end:
            self.log_actions[SHIFT] = -INFINITY
        elif self.history.is_last(cell):
            self.log_actions[ATTACH] = -INFINITY

    cdef int best_action(self) noexcept nogil:
        cdef int a, best = 0
        for a in range(1, self.model.n_actions):
            if self.log_actions[a] > self.log_actions[best]:
                best = a
        return best

    # Shifts

    cdef int shift(self, int s, double log_probability, const float* means, const uint8_t* mask) except -1 nogil:
        """Score the next word after a state under each of its tags.

        log_probability (float): with that of the action, which was decided on by the means, unless mask is NULL.
        """
        cdef const Model* n = self.model
        cdef float* theta = &self.action_theta[0]
        cdef size_t i
        if not self.may_shift(log_probability, means):
            return 0
        if n.settles:
            memcpy(theta, self.positions.theta_at(self.positions.states[s].theta), n.width * sizeof(float))
            if mask != NULL:
                self.scorer.update(ACTIONS, 0, n.n_actions, mask, SHIFT, theta, means)
                self.scorer.sigmoids(&self.action_means[0], theta)
                means = &self.action_means[0]
        self.scorer.decide(TAG, n.n_actions, n.first_word, NULL, means, &self.log_tags[0])
        self.order_candidates()
        for i in range(self.order.size()):
            if not log_probability + self.with_factor(self.order[i]) > self.beam.threshold():
                break
            self.shift_as(s, self.order[i], log_probability, means)

    cdef bint may_shift(self, double log_probability, const float* means) noexcept nogil:
        """Whether a Shift may enter the beam with any candidate, as far as tangents tell."""
        cdef int c
        if not log_probability > self.beam.threshold():
            return False
        for c in range(self.first, self.end):
            if not self.tangents.are_drawn(c) or (
                    log_probability + self.words.candidates[c].log_factor + self.tangents.bound(c, 1, means)
                    > self.beam.threshold()):
                return True
        return False

    cdef int order_candidates(self) except -1 nogil:
        """Order the candidates by the probabilities of their tags, the greatest first."""
        cdef int c, i
        self.order.clear()
        for c in range(self.first, self.end):
            i = <int>self.order.size()
            self.order.push_back(c)
            while i > 0 and self.with_factor(self.order[i - 1]) < self.with_factor(c):
                self.order[i] = self.order[i - 1]
                i -= 1
            self.order[i] = c

    cdef int shift_as(self, int s, int c, double log_probability, const float* means) except -1 nogil:
        """Score a Shift with a candidate; means and action_theta are those before its tag."""
        if self.model.settles:
            self.shift_by_decisions(s, c, log_probability, means)
        else:
            self.shift_by_tangents(s, c, log_probability, means)

    cdef int shift_by_tangents(self, int s, int c, double log_probability, const float* means) except -1 nogil:
        """Score a Shift where decisions do not change means, without a softmax over words if tangents rule it out."""
        cdef int tag = self.words.candidates[c].tag, outcome = self.words.candidates[c].outcome
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        cdef double own, log_word = self.with_factor(c)
        if end > first + 1:
            if self.tangents.are_drawn(c) and not (
                    log_probability + log_word + self.tangents.bound(c, 0, means) > self.beam.threshold()):
                return 0
            own = self.scorer.log_word(outcome, first, end, means)
            if self.beam.is_full() and not self.tangents.are_drawn(c):
                self.tangents.draw(c, tag, outcome, means, own, &self.scorer.logits[0], &self.log_tags[0])
            log_word += own
        self.keep(s, c, log_probability, log_word, NULL)

    cdef int shift_by_decisions(self, int s, int c, double log_probability, const float* means) except -1 nogil:
        """Score a Shift where the tag changes the means by which the word is decided on."""
        cdef const Model* n = self.model
        cdef int tag = self.words.candidates[c].tag
        cdef int first = n.word_offsets[tag], end = n.word_offsets[tag + 1]
        cdef double log_word = self.with_factor(c)
        cdef float* theta = &self.tag_theta[0]
        memcpy(theta, &self.action_theta[0], n.width * sizeof(float))
        self.scorer.update(TAG, n.n_actions, n.first_word, NULL, n.n_actions + tag, theta, means)
        self.scorer.sigmoids(&self.tag_means[0], theta)
        if end > first + 1:
            log_word += self.scorer.log_word(self.words.candidates[c].outcome, first, end, &self.tag_means[0])
        self.keep(s, c, log_probability, log_word, theta)

    cdef int keep(self, int s, int c, double log_probability, double log_word, const float* theta) except -1 nogil:
        """Put a Shift in the beam, if it is likely enough; theta is that before the word, or NULL."""
        cdef Shifted new
        self.beam.best_shift = max(self.beam.best_shift, log_word + self.log_shift)
        new.log_probability, new.state, new.candidate = log_probability + log_word, s, c
        if not new.log_probability > self.beam.threshold():
            return 0
        new.theta = self.beam.make_room()
        if theta != NULL:
            if new.theta == NONE:
                new.theta = self.positions.new_theta()
            memcpy(self.positions.theta_at(new.theta), theta, self.model.width * sizeof(float))
        self.beam.keep(new)

    cdef inline double with_factor(self, int candidate) noexcept nogil:
        """ln (P(tag) P(word | outcome)) of a candidate: all but P(outcome | tag)."""
        return self.log_tags[self.words.candidates[candidate].tag] + <double>self.words.candidates[candidate].log_factor


# The search ---------------------------------------------------------------------------------------


cdef class Search:
    """The search for the derivations of one sentence, word by word.

    networks (Networks): of the model.
    settings (BeamSettings): of the search.
    """

    cdef Networks networks
    cdef object settings
    cdef SentenceWords words
    cdef History history
    cdef Positions positions
    cdef Beam beam
    cdef Expansion expansion
    cdef int max_pops, n_shifted
    cdef double final_margin
    cdef vector[Hypothesis] hypotheses        # that have shifted all words so far, best first
    cdef vector[Hypothesis] finished          # that have reached the end of the sentence, best first

    def __init__(self, Networks networks, settings):
        self.networks, self.settings = networks, settings
        self.max_pops, self.final_margin = settings.max_pops, settings.final_margin
        self.words, self.history = SentenceWords(networks), History(networks)
        self.positions = Positions(self.words, self.history, Scorer(networks, settings.tolerance))
        self.beam = Beam(settings.beam, settings.margin)
        self.expansion = Expansion(self.positions, self.beam, settings.branching, settings.unary_cap)
        self.clear()

    def clear(self):
        """Begin a sentence, in the memory of the one before."""
        self.words.clear()
        self.hypotheses.clear()
        self.finished.clear()
        self.n_shifted = 0
        self.hypotheses.resize(1)
        self.history.start(self.hypotheses[0])
        self.history.give_back_slots(self.hypotheses)

    def copy(self):
        """Return an independent copy of the search."""
        cdef Search new = Search(self.networks, self.settings)
        self.words.copy_to(new.words)
        self.history.copy_to(new.history, self.hypotheses)
        copy(new.hypotheses, self.hypotheses)
        new.n_shifted = self.n_shifted
        return new

    # What callers ask for

    def add(self, candidates):
        """Append words, as `NetworkVocabulary.candidates` describes them."""
        self.words.add(candidates)

    def advance(self):
        """Shift the next of the words that were added."""
        with nogil:
            self.go_on(False)

    def finish(self):
        """End the sentence: find the derivations that attach a whole tree to the root."""
        with nogil:
            self.go_on(True)

    def log_probabilities(self):
        """Return ln P of the hypotheses of the beam, best first, float64 (n,)."""
        return log_probabilities_of(self.hypotheses)

    def final_log_probabilities(self):
        """Return ln P of the finished hypotheses, best first, float64 (n,)."""
        return log_probabilities_of(self.finished)

    def derivations(self):
        """Return the constituents and tags of the hypotheses of the beam, best first.

        RETURNS (list of (tuple of (start, end, label), list of int)): the nodes of each in pre-order, with an end of -1
            if they are still open; and numbers of the words' tags.
        """
        return self.derivations_of(self.hypotheses)

    def final_derivations(self):
        """Return the constituents and tags of the finished hypotheses, as `derivations` does."""
        return self.derivations_of(self.finished)

    cdef list derivations_of(self, const vector[Hypothesis]& hypotheses):
        cdef size_t i
        return [
            constituents_of(self.history, self.words, hypotheses[i].state.branch, self.networks.labels)
            for i in range(hypotheses.size())
        ]

    @property
    def n_bytes(self):
        """Memory for vectors, in bytes."""
        return sizeof(float) * (
            self.history.slots.capacity() + self.words.inputs.capacity() + self.positions.thetas.capacity())

    # The search for the next word, or for the end

    cdef int go_on(self, bint is_end) except -1 nogil:
        """Look for the best ways to shift the next word, or to end.

        Something is always found unless no number is left (nan): a Shift is scored wherever it is allowed, which is
        after one Project at the latest; and if no derivation reaches the end, hypotheses are completed.
        """
        self.begin(is_end)
        self.explore(is_end)
        if not is_end:
            self.keep_shifted()
        elif self.finished.empty():
            self.complete()

    cdef int begin(self, bint is_end) except -1 nogil:
        """Put the hypotheses of the beam on an empty agenda."""
        cdef int i
        self.beam.begin()
        self.positions.begin()
        self.finished.clear()
        if not is_end:
            self.expansion.begin(self.words.offsets[self.n_shifted], self.words.offsets[self.n_shifted + 1])
        for i in range(<int>self.hypotheses.size()):
            self.beam.put(self.hypotheses[i].log_probability, -1 - i, NONE)

    cdef int explore(self, bint is_end) except -1 nogil:
        """Take steps from the agenda, best first, until none of those that are left can matter."""
        cdef Item item
        cdef int n
        for n in range(self.max_pops):
            if self.beam.agenda.empty() or self.beam.agenda.front().log_probability < self.limit(is_end):
                break
            item = self.beam.pop()
            if item.action == DONE:
                self.end(item)
                if <int>self.finished.size() == self.beam.size:
                    break
            else:
                self.expansion.expand(self.enter(item), item.log_probability, is_end)

    cdef double limit(self, bint is_end) noexcept nogil:
        """The log-probability below which no step is worth taking."""
        if not is_end:
            return self.beam.threshold() - self.beam.best_shift - self.beam.margin
        return -INFINITY if self.finished.empty() else self.finished[0].log_probability - self.final_margin

    cdef int enter(self, const Item& item) except -1 nogil:
        """Take a step; the number of the state after it."""
        if item.state < 0:
            return self.positions.of_hypothesis(self.hypotheses[-1 - item.state])
        return self.positions.after(item.state, item.action)

    cdef int keep_shifted(self) except -1 nogil:
        """The best Shifts become the beam."""
        cdef Shifted shifted
        cdef State state
        cdef Hypothesis new
        cdef int slot
        cdef size_t i
        self.beam.sort_shifted()
        self.hypotheses.clear()
        for i in range(self.beam.shifted.size()):
            shifted = self.beam.shifted[i]
            state, slot = self.positions.states[shifted.state], self.positions.states[shifted.state].slot
            if shifted.theta != NONE:
                slot = self.positions.unsettled_slot(self.positions.theta_at(shifted.theta))
            self.history.after(state, SHIFT, shifted.candidate, slot, new.state)
            new.log_probability = shifted.log_probability
            self.hypotheses.push_back(new)
        self.n_shifted += 1
        self.history.give_back_slots(self.hypotheses)

    # The end

    cdef int end(self, const Item& item) except -1 nogil:
        """Note a finished hypothesis."""
        cdef Hypothesis new
        new.log_probability, new.state = item.log_probability, self.positions.states[item.state]
        new.state.branch = self.history.new_branch(new.state.branch, ATTACH, NONE, NONE)
        self.finished.push_back(new)

    cdef int complete(self) except -1 nogil:
        """End each hypothesis of the beam by the most likely steps."""
        cdef Item item
        cdef int i
        for i in range(<int>self.hypotheses.size()):
            item.log_probability, item.state, item.action = self.hypotheses[i].log_probability, -1 - i, NONE
            while item.action != DONE and self.take_best(&item):
                pass
            if item.action == DONE:
                self.end(item)
        sort(self.finished.begin(), self.finished.end(), is_likelier)

    cdef bint take_best(self, Item* item) except -1 nogil:
        """Take a step, and replace it by the most likely next one; whether there is one."""
        cdef State state
        item.state = self.enter(item[0])
        state = self.positions.states[item.state]
        if self.history.mask(state.cell) == NULL:
            return False
        self.expansion.score_actions(item.state, self.positions.means_of(item.state), True)
        item.action = self.expansion.best_action()
        item.log_probability += self.expansion.log_actions[item.action]
        if not item.log_probability > -INFINITY:
            return False
        if item.action == ATTACH and self.history.is_last(state.cell):
            item.action = DONE
        return True


cdef bint is_likelier(const Hypothesis& x, const Hypothesis& y) noexcept nogil:
    return x.log_probability > y.log_probability


cdef log_probabilities_of(const vector[Hypothesis]& hypotheses):
    cdef size_t i
    return np.array([hypotheses[i].log_probability for i in range(hypotheses.size())], dtype=np.float64)
