"""The pasts of the hypotheses of a search, and the positions that they come to, with the means of the latent units.

Everything a hypothesis knows of its past is a number in an arena. Cells of the stack and branches (positions with the
step taken there) are never changed, so that all hypotheses share them. Vectors live in slots, which are given back when
no hypothesis of the beam can reach them any more.

The logits of the means are called theta. Where decisions change the means, a position keeps theta as it is before any
decision; the means after all of them belong to the branch that follows, and are computed once they are wanted.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.mean_field cimport add_products, sum_vectors
from spacy_lpcfg.isbn.search._networks cimport (
    ACTIONS, CONTEXT, INTRODUCED, LEAF, LEFT_CHILD, LEFT_TERMINAL, MODIFY, NONE, N_FIELDS, PROJECT, RIGHT_CHILD,
    ROOT, SHIFT, WORD, Model, NetworkTable, Networks, Scorer, SentenceWords)
from spacy_lpcfg.vectors cimport copy, fill

cdef uint32_t UNSETTLED = <uint32_t>1 << 31    # in place of means a slot has their logits before the word

cdef enum:
    MAX_NODES = (1 << 21) - 1    # words or nodes of a sentence that orders can tell apart
    OPEN = -1


# Derivations --------------------------------------------------------------------------------------


cdef class History:
    """The arenas of one search."""

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.stride = <size_t>self.model.width * (1 + self.model.n_products)

    cdef int start(self, Hypothesis& start) except -1 nogil:
        """Begin a sentence, in the memory of the one before; set the hypothesis before its first word."""
        cdef Cell root
        cdef int f
        self.cells.clear()
        self.branches.clear()
        self.seen.clear()
        self.now = 0
        root.label, root.below = ROOT, NONE
        for f in range(N_FIELDS):
            root.fields[f] = NONE
        start.log_probability = 0
        start.state.branch = start.state.last_shift = start.state.slot = start.state.theta = NONE
        start.state.cell, start.state.n_projected = self.new_cell(root), 0

    cdef void copy_to(self, History new, const vector[Hypothesis]& beam):
        """Give another history this past, with those slots that a beam may still read."""
        cdef vector[int32_t] number
        cdef int slot
        cdef size_t b
        copy(new.cells, self.cells)
        copy(new.branches, self.branches)
        copy(new.seen, self.seen)
        new.now = self.now
        self.find_live_slots(beam)
        fill(number, self.in_slot.size(), NONE)
        for slot in range(<int>self.in_slot.size()):
            if self.is_live[slot]:
                number[slot] = new.new_slot()
                memcpy(new.means(number[slot]), self.means(slot), self.stride * sizeof(float))
                new.in_slot[number[slot]] = self.in_slot[slot]
        for b in range(new.branches.size()):
            if new.branches[b].slot != NONE:
                new.branches[b].slot = number[new.branches[b].slot]

    cdef int32_t new_branch(self, int32_t previous, int32_t action, int32_t candidate, int32_t slot) except -1 nogil:
        cdef Branch branch
        branch.previous, branch.action, branch.candidate, branch.slot = previous, action, candidate, slot
        self.branches.push_back(branch)
        return <int32_t>self.branches.size() - 1

    cdef int after(self, const State& state, int action, int32_t candidate, int32_t slot, State& new) except -1 nogil:
        """Set the state after a step, without means so far.

        candidate (int): of Shift; slot (int): of the means at the step, or NONE until they are computed.
        """
        new.branch = self.new_branch(state.branch, action, candidate, slot)
        new.last_shift = new.branch if action == SHIFT else state.last_shift
        if action == SHIFT:
            new.cell = self.stack_word(state.cell, new.branch)
        else:
            new.cell = self.apply(state.cell, action, new.branch)
        new.n_projected = state.n_projected + 1 if action >= PROJECT else 0
        new.slot = new.theta = NONE

    # The stack

    cdef int32_t new_cell(self, const Cell& cell) except -1 nogil:
        self.cells.push_back(cell)
        self.seen.push_back(0)
        return <int32_t>self.cells.size() - 1

    cdef int32_t stack_word(self, int32_t top, int32_t branch) except -1 nogil:
        """The top of the stack after Shift."""
        cdef Cell cell = self.cells[top]
        cdef int f
        cell.fields[CONTEXT] = branch
        cell.below = self.new_cell(cell)
        cell.label = LEAF
        for f in range(N_FIELDS):
            cell.fields[f] = NONE
        cell.fields[INTRODUCED] = cell.fields[LEFT_TERMINAL] = branch
        return self.new_cell(cell)

    cdef int32_t apply(self, int32_t top, int action, int32_t branch) except -1 nogil:
        """The top of the stack after Attach, Modify or Project."""
        cdef Cell cell = self.cells[top]
        if action < PROJECT:
            cell = self.cells[cell.below]
            if cell.fields[LEFT_CHILD] == NONE:
                cell.fields[LEFT_CHILD] = branch
        else:
            cell.label = action - PROJECT
            cell.fields[CONTEXT] = NONE
            cell.fields[LEFT_CHILD] = branch
            cell.fields[INTRODUCED] = branch
        cell.fields[RIGHT_CHILD] = branch
        return self.new_cell(cell)

    cdef int32_t resolve(self, const State& state, int depth, int field) noexcept nogil:
        """The branch that a relation leads to."""
        cdef int32_t cell = state.cell
        if depth < 0:
            return state.branch if field == 0 else state.last_shift
        while depth > 0 and cell != NONE:
            cell = self.cells[cell].below
            depth -= 1
        return NONE if cell == NONE else self.cells[cell].fields[field]

    # Slots

    cdef int32_t new_slot(self) except -1 nogil:
        cdef int32_t slot
        if self.free_slots.empty():
            slot = <int32_t>self.in_slot.size()
            self.slots.resize((slot + 1) * self.stride)
            self.in_slot.push_back(0)
        else:
            slot = self.free_slots.back()
            self.free_slots.pop_back()
            self.in_slot[slot] = 0
        return slot

    cdef int give_back_slots(self, const vector[Hypothesis]& beam) except -1 nogil:
        cdef int slot
        self.find_live_slots(beam)
        self.free_slots.clear()
        for slot in range(<int>self.in_slot.size() - 1, -1, -1):
            if not self.is_live[slot]:
                self.free_slots.push_back(slot)

    cdef int find_live_slots(self, const vector[Hypothesis]& beam) except -1 nogil:
        """Mark the slots that a beam may still read."""
        cdef size_t i
        cdef int32_t cell
        cdef int f
        fill(self.is_live, self.in_slot.size(), 0)
        self.now += 1
        for i in range(beam.size()):
            self.find_live(beam[i].state.branch)
            self.find_live(beam[i].state.last_shift)
            cell = beam[i].state.cell
            while cell != NONE and self.seen[cell] != self.now:
                self.seen[cell] = self.now
                for f in range(self.model.n_fields):
                    self.find_live(self.cells[cell].fields[self.model.fields[f]])
                cell = self.cells[cell].below

    cdef void find_live(self, int32_t branch) noexcept nogil:
        if branch != NONE and self.branches[branch].slot != NONE:
            self.is_live[self.branches[branch].slot] = 1

    cdef bint lacks_product(self, int32_t slot, int32_t product) noexcept nogil:
        """Whether a slot does not have a product yet; it counts as there from now on."""
        cdef bint lacks = not self.in_slot[slot] >> product & 1
        self.in_slot[slot] = self.in_slot[slot] | <uint32_t>1 << product
        return lacks


# Positions ----------------------------------------------------------------------------------------


cdef class Positions:
    """The states of the search for one word, by number."""

    def __init__(self, SentenceWords words, History history, Scorer scorer):
        cdef const Model* n = words.model
        self.words, self.history, self.scorer, self.model = words, history, scorer, n
        self.related.resize(max(n.n_latent, n.n_decisions))
        self.theta.resize(n.width)
        self.means.resize(n.width)
        self.log_probabilities.resize(n.max_outcomes)

    cdef void begin(self) noexcept nogil:
        """Begin the search for a word."""
        self.states.clear()
        self.n_thetas = 0

    cdef int of_hypothesis(self, const Hypothesis& hypothesis) except -1 nogil:
        """The number of the state that a hypothesis of the beam is in."""
        cdef State state = hypothesis.state
        state.n_projected = 0
        return self.add(state, NONE)

    cdef int after(self, int parent, int action) except -1 nogil:
        """The number of the state after another one and an action."""
        cdef State state
        self.history.after(self.states[parent], action, NONE, self.states[parent].slot, state)
        return self.add(state, parent)

    cdef int add(self, State& state, int parent) except -1 nogil:
        if self.model.settles and state.branch != NONE:
            self.settle_branch(state.branch, parent)
        self.compute(state)
        self.states.push_back(state)
        return <int>self.states.size() - 1

    cdef const float* means_of(self, int s) noexcept nogil:
        """The means at a state before any decision; in scratch where decisions change them."""
        if not self.model.settles:
            return self.history.means(self.states[s].slot)
        self.scorer.sigmoids(&self.means[0], self.theta_at(self.states[s].theta))
        return &self.means[0]

    cdef int32_t new_theta(self) except -1 nogil:
        self.n_thetas += 1
        if self.thetas.size() < <size_t>self.n_thetas * self.model.width:
            self.thetas.resize(<size_t>self.n_thetas * self.model.width)
        return self.n_thetas - 1

    # Before any decision

    cdef int compute(self, State& state) except -1 nogil:
        """Compute the means of the position at a state; only their theta, where decisions change the means."""
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

    cdef int find_summands(self, const State& state) except -1 nogil:
        """Point to the vectors whose sum is theta at the position of a state."""
        self.summands.clear()
        self.summands.push_back(self.model.bias)
        self.add_products(state)
        self.add_inputs(state)

    cdef int add_products(self, const State& state) except -1 nogil:
        """Point to the products by latent relations."""
        self.find_products(state)
        for wanted in self.wanted:
            if self.history.lacks_product(wanted.first, wanted.second):
                self.make_products(wanted.second, &wanted.first, 1)
            self.summands.push_back(
                self.history.means(wanted.first) + <size_t>(1 + wanted.second) * self.model.width)

    cdef int find_products(self, const State& state) except -1 nogil:
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

    cdef int want(self, int32_t branch, int32_t product) except -1 nogil:
        self.wanted.push_back(pair[int32_t, int32_t](self.history.branches[branch].slot, product))

    cdef int make_products(self, int product, const int32_t* slots, int n) except -1 nogil:
        """Multiply a matrix with the means in n slots, and put the products there."""
        cdef const NetworkTable* table
        cdef float* means
        cdef int k, i
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            self.sources.clear()
            self.targets.clear()
            for i in range(n):
                means = self.history.means(slots[i])
                self.sources.push_back(means + table.start)
                self.targets.push_back(means + <size_t>(1 + product) * self.model.width + table.start)
                memset(self.targets.back(), 0, table.width * sizeof(float))
            add_products(self.targets.data(), table.latent_weights + <size_t>product * table.n_states * table.width,
                         self.sources.data(), n, table.n_states, table.n_states)

    cdef int add_inputs(self, const State& state) except -1 nogil:
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
                self.summands.push_back(n.decision_weights + (<size_t>r * n.n_rows + branch.action) * n.width)
            else:
                self.summands.push_back(self.words.input(branch.candidate, r))

    # After all decisions, where they change the means

    cdef int32_t unsettled_slot(self, const float* theta) except -1 nogil:
        """A slot for the means after a Shift, which has theta before the word for now."""
        cdef int32_t slot = self.history.new_slot()
        self.history.in_slot[slot] = UNSETTLED
        memcpy(self.history.means(slot), theta, self.model.width * sizeof(float))
        return slot

    cdef int settle_branch(self, int32_t branch, int parent) except -1 nogil:
        """Compute the means of a position after all decisions of its step, unless they are there.

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
            return 0
        self.scorer.sigmoids(self.history.means(slot), &self.theta[0])

    cdef int settle_action(self, int32_t branch, int parent) except -1 nogil:
        """Leave in scratch theta after the action of a branch, which was taken at the state parent."""
        cdef int n_actions = self.model.n_actions
        cdef const uint8_t* mask = self.history.mask(self.states[parent].cell)
        cdef float* theta = &self.theta[0]
        cdef float* means = &self.means[0]
        memcpy(theta, self.theta_at(self.states[parent].theta), self.model.width * sizeof(float))
        self.scorer.sigmoids(means, theta)
        self.scorer.decide(ACTIONS, 0, n_actions, mask, means, &self.log_probabilities[0])
        self.scorer.update(ACTIONS, 0, n_actions, mask, self.history.branches[branch].action, theta, means)

    cdef int settle_word(self, int32_t branch) except -1 nogil:
        """Leave in scratch theta after the word of a branch."""
        cdef Branch own = self.history.branches[branch]
        cdef int tag = self.words.candidates[own.candidate].tag
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        cdef float* theta = &self.theta[0]
        cdef float* means = &self.means[0]
        memcpy(theta, self.history.means(own.slot), self.model.width * sizeof(float))
        if end > first + 1:
            self.scorer.sigmoids(means, theta)
            self.scorer.decide(WORD, first, end, NULL, means, &self.log_probabilities[0])
            self.scorer.update(WORD, first, end, NULL, self.words.candidates[own.candidate].outcome, theta, means)


# Constituents -------------------------------------------------------------------------------------


cdef tuple constituents_of(History history, SentenceWords words, int32_t branch, tuple labels):
    """Return the constituents that a derivation has built, and its tags.

    branch (int): the last one of the derivation.
    RETURNS (tuple of (start, end, label)): in pre-order; end is -1 of constituents that are still open.
    RETURNS (list of int): numbers of the words' tags.
    """
    cdef vector[int32_t] path
    cdef Nodes nodes = Nodes()
    cdef int32_t action, n_words = 0
    cdef int k
    cdef list tags = []
    while branch != NONE:
        path.push_back(branch)
        branch = history.branches[branch].previous
    for k in range(<int>path.size() - 1, -1, -1):
        action = history.branches[path[k]].action
        if action == SHIFT:
            tags.append(words.candidates[history.branches[path[k]].candidate].tag)
            nodes.stack.push_back(-1 - n_words)
            n_words += 1
        else:
            nodes.take(action, n_words)
    return nodes.in_pre_order(labels), tags


@cython.final
cdef class Nodes:
    """The constituents of a derivation, numbered as they are projected, and its stack."""

    cdef vector[int32_t] starts
    cdef vector[int32_t] ends        # OPEN until they are known
    cdef vector[int32_t] labels
    cdef vector[int32_t] stack       # nodes; -1 - i for word i

    cdef int32_t pop(self):
        cdef int32_t node = self.stack.back()
        self.stack.pop_back()
        return node

    cdef int32_t start_of(self, int32_t node):
        return -1 - node if node < 0 else self.starts[node]

    cdef void take(self, int action, int n_words):
        """Attach, Modify or Project after so many words."""
        cdef int32_t below, top = self.pop()
        if top >= 0:
            self.ends[top] = n_words
        if action == MODIFY:
            below = self.pop()
            self.ends[below] = self.start_of(top)
            self.project(self.labels[below], below)
        elif action >= PROJECT:
            self.project(action - PROJECT, top)

    cdef void project(self, int label, int32_t child):
        """Put a node over its first child."""
        self.stack.push_back(<int32_t>self.labels.size())
        self.labels.push_back(label)
        self.starts.push_back(self.start_of(child))
        self.ends.push_back(OPEN)

    cdef tuple in_pre_order(self, tuple names):
        """The constituents as (start, end, label)."""
        cdef vector[int64_t] places
        cdef int64_t place
        cdef int node
        for node in range(<int>self.labels.size()):
            places.push_back(place_of(self.starts[node], self.ends[node], node))
        sort(places.begin(), places.end())
        constituents = []
        for place in places:
            node = node_at(place)
            constituents.append((self.starts[node], self.ends[node], names[self.labels[node]]))
        return tuple(constituents)


cdef int64_t place_of(int64_t start, int64_t end, int64_t node) noexcept nogil:
    """A number by which nodes are in pre-order: of those over the same words the later is above."""
    return start << 42 | (MAX_NODES - end if end >= 0 else 0) << 21 | (MAX_NODES - node)


cdef int node_at(int64_t place) noexcept nogil:
    return <int>(MAX_NODES - (place & MAX_NODES))
