"""Beam search over derivations, word by word (section 6 of Henderson and Titov 2010).

After each word the search holds a beam of hypotheses that have shifted it. From these it goes best-first through the
steps up to the next Shift.

Differs from the paper: the step that shifts is scored at once with tag and word, for several tags where they are not
given; and the search for a word ends when the worst of the beam is better than any hypothesis left could become, if it
shifted with as high a probability as the best so far (and by a margin more).
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._beam cimport Beam
from spacy_lpcfg.isbn.search._constituents cimport constituents_of
from spacy_lpcfg.isbn.search._expansion cimport Expansion
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport ATTACH, DONE, NONE, SHIFT, Hypothesis, Item, Shifted, State
from spacy_lpcfg.isbn.search._words cimport SentenceWords


cdef class Search:
    """The search for the derivations of one sentence, word by word.

    networks (Networks): of the model.
    settings: as in `BeamSettings`.
    """

    cdef Networks networks
    cdef dict settings
    cdef SentenceWords words
    cdef History history
    cdef Positions positions
    cdef Beam beam
    cdef Expansion expansion
    cdef int max_pops, n_shifted
    cdef double final_margin
    cdef vector[Hypothesis] hypotheses        # that have shifted all words so far, best first
    cdef vector[Hypothesis] finished          # that have reached the end of the sentence, best first
    cdef readonly long n_pops                 # hypotheses that were looked at

    def __init__(
        self, Networks networks, *, beam, branching, unary_cap, max_pops, margin, final_margin, tolerance
    ):
        self.networks = networks
        self.settings = {
            "beam": beam, "branching": branching, "unary_cap": unary_cap, "max_pops": max_pops, "margin": margin,
            "final_margin": final_margin, "tolerance": tolerance,
        }
        self.max_pops, self.final_margin = max_pops, final_margin
        self.words, self.history = SentenceWords(networks), History(networks)
        self.positions = Positions(networks, self.words, self.history, Scorer(networks, tolerance))
        self.beam = Beam(beam, margin)
        self.expansion = Expansion(networks, self.words, self.positions, self.beam, branching, unary_cap)
        self.clear()

    def clear(self):
        """Begin a sentence, in the memory of the one before."""
        self.words.clear()
        self.hypotheses.clear()
        self.finished.clear()
        self.n_shifted = 0
        self.hypotheses.push_back(self.history.start())
        self.history.give_back_slots(self.hypotheses)

    def copy(self):
        """A search that goes on from here by itself."""
        cdef Search new = Search(self.networks, **self.settings)
        self.words.copy_to(new.words)
        self.history.copy_to(new.history, self.hypotheses)
        new.hypotheses, new.n_shifted = self.hypotheses, self.n_shifted
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
        """Attach the whole trees to the root."""
        with nogil:
            self.go_on(True)

    def log_probabilities(self):
        """Of the hypotheses of the beam, best first, float64 (n,)."""
        return log_probabilities_of(self.hypotheses)

    def final_log_probabilities(self):
        """Of the finished hypotheses, best first, float64 (n,)."""
        return log_probabilities_of(self.finished)

    def derivations(self):
        """What the hypotheses of the beam have built.

        RETURNS (list of (tuple of (start, end, label), list of int)): the nodes of each in pre-order, with an end of -1
            if they are still open; and numbers of the words' tags.
        """
        return self.derivations_of(self.hypotheses)

    def final_derivations(self):
        """What the finished hypotheses have built, as `derivations` gives it."""
        return self.derivations_of(self.finished)

    cdef list derivations_of(self, const vector[Hypothesis]& hypotheses):
        cdef size_t i
        return [
            constituents_of(self.history, self.words, hypotheses[i].branch, self.networks.labels)
            for i in range(hypotheses.size())
        ]

    @property
    def n_bytes(self):
        """Memory for vectors, in bytes."""
        return sizeof(float) * (
            self.history.slots.capacity() + self.words.inputs.capacity() + self.positions.thetas.capacity())

    @property
    def n_products(self):
        """Products of means with the matrices of latent relations, so far."""
        return self.positions.n_products

    @property
    def n_tag_softmaxes(self):
        """Softmaxes over tags so far."""
        return self.expansion.n_tag_softmaxes

    @property
    def n_word_softmaxes(self):
        """Softmaxes over words so far."""
        return self.expansion.scorer.n_word_softmaxes

    @property
    def n_word_outcomes(self):
        """Outcomes of the softmaxes over words so far."""
        return self.expansion.scorer.n_word_outcomes

    # The search for the next word, or for the end

    cdef void go_on(self, bint is_end) noexcept nogil:
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

    cdef void begin(self, bint is_end) noexcept nogil:
        """Put the hypotheses of the beam on an empty agenda."""
        cdef int i
        self.beam.begin()
        self.positions.begin()
        self.finished.clear()
        if not is_end:
            self.expansion.begin(self.words.offsets[self.n_shifted], self.words.offsets[self.n_shifted + 1])
        for i in range(<int>self.hypotheses.size()):
            self.beam.put(self.hypotheses[i].log_probability, -1 - i, NONE)

    cdef void explore(self, bint is_end) noexcept nogil:
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
                self.n_pops += 1
                self.expansion.expand(self.enter(item), item.log_probability, is_end)

    cdef double limit(self, bint is_end) noexcept nogil:
        """The log-probability below which no step is worth taking."""
        if not is_end:
            return self.beam.threshold() - self.beam.best_shift - self.beam.margin
        return -INFINITY if self.finished.empty() else self.finished[0].log_probability - self.final_margin

    cdef int enter(self, const Item& item) noexcept nogil:
        """Take a step; the number of the state after it."""
        if item.state < 0:
            return self.positions.of_hypothesis(self.hypotheses[-1 - item.state])
        return self.positions.after(item.state, item.action)

    cdef void keep_shifted(self) noexcept nogil:
        """The best Shifts become the beam."""
        cdef Shifted each
        cdef State state
        cdef Hypothesis new
        cdef int slot
        cdef size_t i
        self.beam.sort_shifted()
        self.hypotheses.clear()
        for i in range(self.beam.shifted.size()):
            each = self.beam.shifted[i]
            state, slot = self.positions.states[each.state], self.positions.states[each.state].slot
            if each.theta != NONE:
                slot = self.positions.unsettled_slot(self.positions.theta_at(each.theta))
            new.branch = self.history.new_branch(state.branch, SHIFT, each.candidate, slot)
            new.cell, new.last_shift = self.history.stack_word(state.cell, new.branch), new.branch
            new.log_probability = each.log_probability
            self.hypotheses.push_back(new)
        self.n_shifted += 1
        self.history.give_back_slots(self.hypotheses)

    # The end

    cdef void end(self, const Item& item) noexcept nogil:
        """Note a finished hypothesis."""
        cdef Hypothesis new
        cdef State state = self.positions.states[item.state]
        new.log_probability, new.cell, new.last_shift = item.log_probability, state.cell, state.last_shift
        new.branch = self.history.new_branch(state.branch, ATTACH, NONE, NONE)
        self.finished.push_back(new)

    cdef void complete(self) noexcept nogil:
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

    cdef bint take_best(self, Item* item) noexcept nogil:
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
