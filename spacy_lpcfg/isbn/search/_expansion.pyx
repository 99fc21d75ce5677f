"""What may come after a state: the likeliest actions go on the agenda, and the next word under each tag to the beam."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy

from spacy_lpcfg.isbn.search._beam cimport Beam
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._positions cimport Positions
from spacy_lpcfg.isbn.search._scoring cimport Scorer, Tangents
from spacy_lpcfg.isbn.search._types cimport ACTIONS, ATTACH, DONE, NONE, PROJECT, SHIFT, TAG, Model, Shifted
from spacy_lpcfg.isbn.search._words cimport SentenceWords


cdef class Expansion:
    """Expands the states of the search for a word.

    branching, unary_cap (int): as in `BeamSettings`.
    """

    def __init__(self, Networks networks, SentenceWords words, Positions positions, Beam beam, int branching, int unary_cap):
        cdef const Model* n = &networks.model
        self.networks, self.model, self.words, self.positions, self.beam = networks, n, words, positions, beam
        self.history, self.scorer, self.tangents = positions.history, positions.scorer, Tangents(networks)
        self.branching, self.unary_cap = branching, unary_cap
        self.log_actions.resize(n.n_actions)
        self.log_tags.resize(n.first_word - n.n_actions)
        self.action_theta.resize(n.width)
        self.action_means.resize(n.width)
        self.tag_theta.resize(n.width)
        self.tag_means.resize(n.width)

    cdef void begin(self, int first, int end) noexcept nogil:
        """Begin the search for a word that has these candidates."""
        self.first, self.end = first, end
        self.tangents.begin(first, end)

    # Actions

    cdef void expand(self, int s, double log_probability, bint is_end) noexcept nogil:
        """Score what may come after a state."""
        cdef int32_t cell = self.positions.states[s].cell
        cdef const uint8_t* mask = self.history.mask(cell)
        cdef const float* means = self.positions.means_of(s)
        if mask == NULL:
            self.log_shift = 0
            if not is_end:
                self.shift(s, log_probability, means, NULL)
            return
        self.score_actions(s, means, is_end)
        self.log_shift = self.log_actions[SHIFT]
        if self.log_actions[SHIFT] > -INFINITY:
            self.shift(s, log_probability + self.log_actions[SHIFT], means, mask)
            self.log_actions[SHIFT] = -INFINITY
        if is_end and self.history.is_last(cell):
            self.beam.put(log_probability + self.log_actions[ATTACH], s, DONE)
            self.log_actions[ATTACH] = -INFINITY
        self.follow_actions(s, log_probability)

    cdef void follow_actions(self, int s, double log_probability) noexcept nogil:
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

    cdef void shift(self, int s, double log_probability, const float* means, const uint8_t* mask) noexcept nogil:
        """Score the next word after a state under each of its tags.

        log_probability (float): with that of the action, which was decided on by the means, unless mask is NULL.
        """
        cdef const Model* n = self.model
        cdef float* theta = &self.action_theta[0]
        cdef size_t i
        if not self.may_shift(log_probability, means):
            return
        if n.settles:
            memcpy(theta, self.positions.theta_at(self.positions.states[s].theta), n.width * sizeof(float))
            if mask != NULL:
                self.scorer.update(ACTIONS, 0, n.n_actions, mask, SHIFT, theta, means)
                self.scorer.sigmoids(&self.action_means[0], theta)
                means = &self.action_means[0]
        self.n_tag_softmaxes += 1
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
                    log_probability + self.words.log_factors[c] + self.tangents.bound(c, 1, means)
                    > self.beam.threshold()):
                return True
        return False

    cdef void order_candidates(self) noexcept nogil:
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

    cdef void shift_as(self, int s, int c, double log_probability, const float* means) noexcept nogil:
        """Score a Shift with a candidate; means and action_theta are those before its tag."""
        if self.model.settles:
            self.shift_by_decisions(s, c, log_probability, means)
        else:
            self.shift_by_tangents(s, c, log_probability, means)

    cdef void shift_by_tangents(self, int s, int c, double log_probability, const float* means) noexcept nogil:
        """Where decisions leave the means as they are: without a softmax over words that makes no difference."""
        cdef int tag = self.words.tags[c], outcome = self.words.outcomes[c]
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        cdef double own, log_word = self.with_factor(c)
        if end > first + 1:
            if self.tangents.are_drawn(c) and not (
                    log_probability + log_word + self.tangents.bound(c, 0, means) > self.beam.threshold()):
                return
            own = self.scorer.log_word(outcome, first, end, means)
            if self.beam.is_full() and not self.tangents.are_drawn(c):
                self.tangents.draw(c, tag, outcome, means, own, &self.scorer.logits[0], &self.log_tags[0])
            log_word += own
        self.keep(s, c, log_probability, log_word, NULL)

    cdef void shift_by_decisions(self, int s, int c, double log_probability, const float* means) noexcept nogil:
        """Where the tag changes the means by which the word is decided on."""
        cdef const Model* n = self.model
        cdef int tag = self.words.tags[c]
        cdef int first = n.word_offsets[tag], end = n.word_offsets[tag + 1]
        cdef double log_word = self.with_factor(c)
        cdef float* theta = &self.tag_theta[0]
        memcpy(theta, &self.action_theta[0], n.width * sizeof(float))
        self.scorer.update(TAG, n.n_actions, n.first_word, NULL, n.n_actions + tag, theta, means)
        self.scorer.sigmoids(&self.tag_means[0], theta)
        if end > first + 1:
            log_word += self.scorer.log_word(self.words.outcomes[c], first, end, &self.tag_means[0])
        self.keep(s, c, log_probability, log_word, theta)

    cdef void keep(self, int s, int c, double log_probability, double log_word, const float* theta) noexcept nogil:
        """Put a Shift among the best, if it is one of them; theta is that before the word, or NULL."""
        cdef Shifted new
        self.beam.best_shift = max(self.beam.best_shift, log_word + self.log_shift)
        new.log_probability, new.state, new.candidate = log_probability + log_word, s, c
        if not new.log_probability > self.beam.threshold():
            return
        new.theta = self.beam.make_room()
        if theta != NULL:
            if new.theta == NONE:
                new.theta = self.positions.new_theta()
            memcpy(self.positions.theta_at(new.theta), theta, self.model.width * sizeof(float))
        self.beam.keep(new)
