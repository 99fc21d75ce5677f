"""The positions that hypotheses come to while the next word is looked for, and the means of their latent units.

The logits of the means are called theta. Where decisions change the means, a position keeps theta as it is before any
decision; the means after all of them belong to the branch that follows, and are computed once they are wanted.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.utility cimport pair

from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._scoring cimport Scorer
from spacy_lpcfg.isbn.search._types cimport ACTIONS, NONE, PROJECT, WORD, Branch, Hypothesis, Model, State, NetworkTable
from spacy_lpcfg.isbn.search._words cimport SentenceWords

cdef extern from "mean_field.h" namespace "isbn" nogil:
    void add_products(float** targets, const float* matrix, const float** sources, int n_pairs, int n_rows,
                      int n_states)

cdef extern from "vectors.h" namespace "isbn" nogil:
    void sum_vectors(float* sum, const float** vectors, int n_vectors, int width)

cdef uint32_t UNSETTLED = <uint32_t>1 << 31    # in place of means a slot has their logits before the word


cdef class Positions:
    """The states of the search for one word, by number."""

    def __init__(self, Networks networks, SentenceWords words, History history, Scorer scorer):
        cdef const Model* n = &networks.model
        self.networks, self.model = networks, n
        self.words, self.history, self.scorer = words, history, scorer
        self.related.resize(max(n.n_latent, n.n_decisions))
        self.theta.resize(n.width)
        self.means.resize(n.width)
        self.log_probabilities.resize(n.max_outcomes)

    cdef void begin(self) noexcept nogil:
        """Begin the search for a word."""
        self.states.clear()
        self.n_thetas = 0

    cdef int of_hypothesis(self, const Hypothesis& hypothesis) noexcept nogil:
        """The number of the state that a hypothesis of the beam is in."""
        cdef State state
        state.branch, state.cell, state.last_shift = hypothesis.branch, hypothesis.cell, hypothesis.last_shift
        state.n_projected = 0
        return self.add(state, NONE)

    cdef int after(self, int parent, int action) noexcept nogil:
        """The number of the state after another one and an action."""
        cdef State state = self.states[parent]
        state.branch = self.history.new_branch(state.branch, action, NONE, state.slot)
        state.cell = self.history.apply(state.cell, action, state.branch)
        state.n_projected = state.n_projected + 1 if action >= PROJECT else 0
        return self.add(state, parent)

    cdef int add(self, State& state, int parent) noexcept nogil:
        if self.model.settles and state.branch != NONE:
            self.settle_branch(state.branch, parent)
        state.slot, state.theta = NONE, NONE
        self.compute(state)
        self.states.push_back(state)
        return <int>self.states.size() - 1

    cdef const float* means_of(self, int s) noexcept nogil:
        """The means at a state before any decision; in scratch where decisions change them."""
        if not self.model.settles:
            return self.history.means(self.states[s].slot)
        self.scorer.sigmoids(&self.means[0], self.theta_at(self.states[s].theta))
        return &self.means[0]

    cdef int32_t new_theta(self) noexcept nogil:
        self.n_thetas += 1
        if self.thetas.size() < <size_t>self.n_thetas * self.model.width:
            self.thetas.resize(<size_t>self.n_thetas * self.model.width)
        return self.n_thetas - 1

    # Before any decision

    cdef void compute(self, State& state) noexcept nogil:
        """The means of the position at a state before its decisions, or what they are the sigmoids of."""
        cdef float* theta = &self.theta[0]
        if self.model.settles:
            state.theta = self.new_theta()
            theta = self.theta_at(state.theta)
        else:
            state.slot = self.history.new_slot()
        self.find_summands(state)
        sum_vectors(theta, self.summands.data(), <int>self.summands.size(), self.model.width)
        if not self.model.settles:
            self.scorer.sigmoids(self.history.means(state.slot), theta)

    cdef void find_summands(self, const State& state) noexcept nogil:
        """Point to the vectors whose sum is theta at the position of a state."""
        self.summands.clear()
        self.summands.push_back(self.model.bias)
        self.add_products(state)
        self.add_inputs(state)

    cdef void add_products(self, const State& state) noexcept nogil:
        """Point to the products by latent relations."""
        cdef size_t i
        self.find_products(state)
        for i in range(self.wanted.size()):
            self.summands.push_back(self.product(self.wanted[i].first, self.wanted[i].second))

    cdef void find_products(self, const State& state) noexcept nogil:
        """Collect the slots and numbers of the products by latent relations; those of a couple that meets in one branch
        are one product."""
        cdef const Model* n = self.model
        cdef int r, c, p
        cdef uint32_t done = 0
        self.wanted.clear()
        for r in range(n.n_latent):
            self.related[r] = self.history.resolve(state, n.latent[2 * r], n.latent[2 * r + 1])
        for c in range(n.n_couples):
            r, p = n.couples[2 * c], n.couples[2 * c + 1]
            if self.related[r] != NONE and self.related[r] == self.related[p]:
                self.want(self.related[r], n.n_latent + c)
                done |= <uint32_t>1 << r | <uint32_t>1 << p
        for r in range(n.n_latent):
            if self.related[r] != NONE and not done >> r & 1:
                self.want(self.related[r], r)

    cdef void want(self, int32_t branch, int32_t product) noexcept nogil:
        self.wanted.push_back(pair[int32_t, int32_t](self.history.branches[branch].slot, product))

    cdef void add_inputs(self, const State& state) noexcept nogil:
        """Point to the rows of the decisions that decision relations lead to."""
        cdef const Model* n = self.model
        cdef Branch branch
        cdef int r
        for r in range(n.n_decisions):
            self.related[r] = self.history.resolve(state, n.decisions[2 * r], n.decisions[2 * r + 1])
            if self.related[r] != NONE:
                self.words.compute_inputs(self.history.branches[self.related[r]].candidate)
        for r in range(n.n_decisions):
            if self.related[r] == NONE:
                continue
            branch = self.history.branches[self.related[r]]
            if branch.candidate == NONE:
                self.summands.push_back(&n.action_rows[(<size_t>r * n.n_actions + branch.action) * n.width])
            else:
                self.summands.push_back(self.words.input(branch.candidate, r))

    cdef const float* product(self, int slot, int p) noexcept nogil:
        """The product of a matrix with the means in a slot."""
        cdef float* means = self.history.means(slot)
        cdef float* found = means + <size_t>(1 + p) * self.model.width
        cdef float* target
        cdef const float* source
        cdef const NetworkTable* table
        cdef int k
        if self.history.in_slot[slot] >> p & 1:
            return found
        self.history.in_slot[slot] = self.history.in_slot[slot] | <uint32_t>1 << p
        self.n_products += 1
        memset(found, 0, self.model.width * sizeof(float))
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            target, source = found + table.start, means + table.start
            add_products(&target, table.latent_weights + <size_t>p * table.n_states * table.width, &source, 1,
                         table.n_states, table.n_states)
        return found

    # After all decisions, where they change the means

    cdef int32_t unsettled_slot(self, const float* theta) noexcept nogil:
        """A slot for the means after a Shift, which has theta before the word for now."""
        cdef int32_t slot = self.history.new_slot()
        self.history.in_slot[slot] = UNSETTLED
        memcpy(self.history.means(slot), theta, self.model.width * sizeof(float))
        return slot

    cdef void settle_branch(self, int32_t branch, int parent) noexcept nogil:
        """The means of a position after all decisions of its step, unless they are there.

        parent (int): the state at the position, unless the step is a Shift.
        """
        cdef int slot = self.history.branches[branch].slot
        if slot == NONE:
            slot = self.history.new_slot()
            self.history.branches[branch].slot = slot
            self.settle_action(branch, parent)
        elif self.history.in_slot[slot] & UNSETTLED:
            self.history.in_slot[slot] = 0
            self.settle_word(branch)
        else:
            return
        self.scorer.sigmoids(self.history.means(slot), &self.theta[0])

    cdef void settle_action(self, int32_t branch, int parent) noexcept nogil:
        """Leave in scratch theta after the action of a branch, which was taken at the state parent."""
        cdef int n_actions = self.model.n_actions
        cdef const uint8_t* mask = self.history.mask(self.states[parent].cell)
        cdef float* theta = &self.theta[0]
        cdef float* means = &self.means[0]
        memcpy(theta, self.theta_at(self.states[parent].theta), self.model.width * sizeof(float))
        self.scorer.sigmoids(means, theta)
        self.scorer.decide(ACTIONS, 0, n_actions, mask, means, &self.log_probabilities[0])
        self.scorer.update(ACTIONS, 0, n_actions, mask, self.history.branches[branch].action, theta, means)

    cdef void settle_word(self, int32_t branch) noexcept nogil:
        """Leave in scratch theta after the word of a branch."""
        cdef Branch own = self.history.branches[branch]
        cdef int tag = self.words.tags[own.candidate]
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        cdef float* theta = &self.theta[0]
        cdef float* means = &self.means[0]
        memcpy(theta, self.history.means(own.slot), self.model.width * sizeof(float))
        if end > first + 1:
            self.scorer.sigmoids(means, theta)
            self.scorer.decide(WORD, first, end, NULL, means, &self.log_probabilities[0])
            self.scorer.update(WORD, first, end, NULL, self.words.outcomes[own.candidate], theta, means)
