# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Beam search over derivations, word by word (section 6 of Henderson and Titov 2010).

After each word the search holds a beam of hypotheses that have shifted it. From these it goes best-first through the
steps up to the next Shift. Everything a hypothesis knows of its past is a number in an arena: cells of the stack and
branches (positions with the step taken there) are never changed, so that all hypotheses share them. Vectors live in
slots, which are given back when no hypothesis of the beam can reach them any more.

The networks of an ensemble stand side by side in every vector: only their products and their means are apart.

Differs from the paper: the step that shifts is scored at once with tag and word, for several tags where they are not
given; and the search for a word ends when the worst of the beam is better than any hypothesis left could become, if it
shifted with as high a probability as the best so far (and by a margin more).

A softmax over words is left out where it can make no difference: log P of a tag and a word under it are concave in the
means, so that their tangents at the means of one hypothesis bound them at those of all others.
"""

import numpy as np

from libc.math cimport INFINITY, exp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp cimport bool as cbool
from libcpp.algorithm cimport pop_heap, push_heap, sort
from libcpp.vector cimport vector

cdef extern from "mean_field.h" namespace "isbn" nogil:
    cppclass Choice[Real]:
        const Real* weights
        const Real* biases
        const uint8_t* allowed
        int n_outcomes
        int n_states
    cppclass Workspace[Real]:
        Real forcing
        Real negligible
    int padded(int n_states)
    void add_products(float** targets, const float* matrix, const float** sources, int n_pairs, int n_rows,
                      int n_states)
    void average(float* sum, const float* weights, const float* matrix, int n_rows, int n_states)
    void sigmoid(float* means, const float* theta, int n_states)
    float softmax(float* logits, float* q, const float* means, const Choice[float]& choice)
    void step(float* theta, const float* q, const Choice[float]& choice, int chosen, Workspace[float]& workspace)
    int settle(float* theta, float* means, float* logits, float* q, const Choice[float]& choice, int chosen,
               float tolerance, Workspace[float]& workspace)

cdef extern from "beam.h" namespace "isbn" nogil:
    void sum_vectors(float* sum, const float** vectors, int n_vectors, int width)
    void add_logits(float* logits, const float* weights, const float* biases, const float* means, float scale,
                    int n_outcomes, int n_states)
    float log_sum_exp(float* logits, int n)
    float product_of(const float* x, const float* y, int width)

cdef enum:
    NONE = -1
    SHIFT = 0
    ATTACH = 1
    MODIFY = 2
    PROJECT = 3
    LEAF = -1
    ROOT = -2
    DONE = -2                # in place of an action: the whole tree is attached to the root
    CONTEXT = 0
    LEFT_CHILD = 1
    RIGHT_CHILD = 2
    INTRODUCED = 3
    LEFT_TERMINAL = 4
    N_FIELDS = 5
    FEED_FORWARD = 0
    STEP = 1
    SETTLE = 2
    ACTIONS = 0              # the decisions of a step, in order
    TAG = 1
    WORD = 2

cdef double ROUNDING = 1e-4      # more than that of single floats adds to a bound
cdef float LEAST_SHARE = 1e-4    # of the tolerance; less likely outcomes do not bend a Newton step
cdef uint32_t UNSETTLED = <uint32_t>1 << 31    # in place of means a slot has their logits before the word


cdef struct Cell:
    int32_t label
    int32_t fields[5]        # branches
    int32_t below            # a cell


cdef struct Branch:
    int32_t previous         # the branch before
    int32_t action
    int32_t candidate        # of Shift: the number of a tag of a word
    int32_t slot             # of its means; of the position's, where no decision changes them


cdef struct State:
    int32_t branch           # the last one
    int32_t cell             # the top of the stack
    int32_t last_shift       # a branch
    int32_t n_projected      # nodes projected in a row
    int32_t slot             # of the means before any decision
    int32_t theta            # where the means belong to branches: number of their logits before any decision


cdef struct Hypothesis:
    double log_probability
    int32_t branch
    int32_t cell
    int32_t last_shift


cdef struct Item:            # a step that may be looked at
    double log_probability
    int32_t state            # from which it is taken; -1 - i: none from hypothesis i of the beam
    int32_t action


cdef struct Shifted:
    double log_probability
    int32_t state
    int32_t candidate
    int32_t theta            # where the means belong to branches: number of their logits before the word


cdef bint is_worse(const Item& x, const Item& y) noexcept nogil:
    return x.log_probability < y.log_probability


cdef bint is_better(const Shifted& x, const Shifted& y) noexcept nogil:
    return x.log_probability > y.log_probability


cdef struct Table:           # the parameters of one network; rows are padded to `width`
    int n_states, width, approximation
    int start                # of its part of every vector
    const float* latent_weights
    const float* decision_weights
    const float* outcome_weights
    const float* outcome_bias


cdef struct Model:           # what the search reads of an ISBN
    int n_networks, n_latent, n_decisions, n_products, n_couples, n_fields
    int n_actions, first_word, n_rows, most_outcomes
    int width                # of a vector
    bint settles             # whether decisions change the means of any network
    const Table* tables
    const float* bias        # (width,)
    const float* action_rows # (n_decisions, n_actions, width)
    const uint8_t* masks     # (n_masks, n_actions)
    const int32_t* word_offsets
    const int32_t* latent    # (n_latent, 2): codes of the relations
    const int32_t* decisions # (n_decisions, 2)
    const int32_t* couples   # (n_couples, 2): latent relations to the first and the last child of one node
    const int32_t* fields    # of cells that latent relations lead to


cdef class Networks:
    """An ISBN as the search reads it; any number of searches share one."""

    cdef list arrays         # that the model points to
    cdef tuple labels, tags
    cdef vector[Table] tables
    cdef Model model

    def __init__(self, isbn, latent, decisions):
        """latent, decisions (int32, (n, 2)): the codes of the relations."""
        cdef Model* m = &self.model
        inventory = isbn.inventory
        offsets = inventory.word_offsets
        self.labels, self.tags = tuple(inventory.labels), tuple(inventory.tags)
        m.n_latent, m.n_decisions, m.n_networks = len(latent), len(decisions), len(isbn.networks)
        m.n_actions, m.first_word, m.n_rows = inventory.n_actions, inventory.first_word, inventory.n_rows
        m.most_outcomes = padded(max(m.n_actions, m.first_word - m.n_actions, int(np.diff(offsets).max())))
        codes = [tuple(code) for code in latent.tolist()]
        fields = sorted({field for depth, field in codes if depth >= 0})
        couples = [
            (r, codes.index((depth, RIGHT_CHILD)))
            for r, (depth, field) in enumerate(codes)
            if depth >= 0 and field == LEFT_CHILD and (depth, RIGHT_CHILD) in codes
        ]
        m.n_couples, m.n_fields, m.n_products = len(couples), len(fields), m.n_latent + len(couples)
        self.arrays = []
        m.latent, m.decisions = self.integers(latent), self.integers(decisions)
        m.couples, m.fields, m.word_offsets = self.integers(couples), self.integers(fields), self.integers(offsets)
        m.masks = self.bytes(inventory.masks)
        padded_networks = [_Padded(network, couples) for network in isbn.networks]
        for network in padded_networks:
            self.tables.push_back(self.table(network))
        m.tables = self.tables.data()
        m.bias = self.floats(np.concatenate([network.bias for network in padded_networks]))
        rows = [network.decision_weights.reshape(m.n_decisions, m.n_rows, -1) for network in padded_networks]
        m.action_rows = self.floats(np.concatenate([each[:, : m.n_actions] for each in rows], axis=2))

    cdef Table table(self, network):
        cdef Table table
        table.n_states, table.width, table.approximation = network.n_states, network.width, network.approximation
        table.start = self.model.width
        table.latent_weights = self.floats(network.latent_weights)
        table.decision_weights = self.floats(network.decision_weights)
        table.outcome_weights = self.floats(network.outcome_weights)
        table.outcome_bias = self.floats(network.outcome_bias)
        self.model.width += table.width
        self.model.settles |= table.approximation != FEED_FORWARD
        return table

    cdef const float* floats(self, array):
        cdef const float[::1] flat = np.ascontiguousarray(array, dtype=np.float32).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL

    cdef const int32_t* integers(self, array):
        cdef const int32_t[::1] flat = np.ascontiguousarray(array, dtype=np.int32).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL

    cdef const uint8_t* bytes(self, array):
        cdef const uint8_t[::1] flat = np.ascontiguousarray(array, dtype=np.uint8).ravel()
        self.arrays.append(flat)
        return &flat[0] if flat.shape[0] else NULL


class _Padded:
    """A network's parameters with rows padded to `width`; also the sums of the matrices of couples of relations."""

    def __init__(self, network, couples):
        latent = network.latent_weights
        sums = [latent[r] + latent[s] for r, s in couples]
        self.n_states = network.n_states
        self.width = padded(network.n_states)
        self.approximation = ["feed-forward", "mean-field-step", "mean-field"].index(network.approximation)
        self.latent_weights = self.with_padding(np.concatenate([latent, np.array(sums).reshape(-1, *latent.shape[1:])]))
        self.decision_weights = self.with_padding(network.decision_weights)
        self.outcome_weights = self.with_padding(network.outcome_weights)
        self.bias, self.outcome_bias = self.with_padding(network.bias), network.outcome_bias

    def with_padding(self, array):
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, self.width - self.n_states)])


cdef bint is_likelier(const Hypothesis& x, const Hypothesis& y) noexcept nogil:
    return x.log_probability > y.log_probability


cdef enum:
    MOST = (1 << 21) - 1     # words or nodes of a sentence that orders can tell apart


cdef int64_t place_of(int64_t start, int64_t end, int64_t node) noexcept nogil:
    """A number by which nodes are in pre-order: of those over the same words the later is above."""
    return start << 42 | (MOST - end if end >= 0 else 0) << 21 | (MOST - node)


cdef int node_at(int64_t place) noexcept nogil:
    return <int>(MOST - (place & MOST))


cdef class Search:
    """The search for the derivations of one sentence, word by word."""

    cdef Networks networks
    cdef const Model* model
    cdef int beam, branching, unary_cap, max_pops, width
    cdef double margin, final_margin
    cdef float tolerance
    # what may become of each word
    cdef vector[int32_t] word_candidates      # (n_words + 1,)
    cdef vector[int32_t] tags                 # (n_candidates,)
    cdef vector[int32_t] outcomes
    cdef vector[float] log_factors
    cdef vector[int32_t] first_form           # (n_candidates,), of form_rows
    cdef vector[int32_t] end_form
    cdef vector[int32_t] form_rows
    cdef vector[int32_t] input_of             # (n_candidates,): number of its inputs, or NONE until they are wanted
    cdef vector[float] inputs                 # (n, n_decisions, width): sums of the rows of a Shift
    # arenas
    cdef vector[Cell] cells
    cdef vector[Branch] branches
    cdef vector[float] slots                  # (n_slots, 1 + n_products, width): means, and their products
    cdef vector[uint32_t] in_slot             # bits: 1 << p: product p is there
    cdef vector[uint8_t] is_live
    cdef vector[int32_t] free_slots
    cdef vector[int32_t] seen                 # of each cell: when its slots were last found live
    cdef int now
    # the beam, and those that have reached the end
    cdef int n_shifted
    cdef vector[Hypothesis] hypotheses
    cdef vector[Hypothesis] finals
    # of the word at hand
    cdef vector[Item] queue
    cdef vector[State] states
    cdef vector[float] thetas                 # (n, width)
    cdef vector[Shifted] shifted              # a heap with the worst in front
    cdef double best_shift                    # log P of a Shift with its tag and word, at most
    cdef double log_shift                     # of the state at hand
    cdef vector[int32_t] tangent_of           # (n_candidates of the word,): number of its tangents, or NONE
    cdef vector[float] slopes                 # (n, 2, width): of the word; of tag and word together
    cdef vector[double] intercepts            # (n, 2)
    cdef int n_theta
    # scratch
    cdef vector[float] logits                 # (most_outcomes,)
    cdef vector[float] q                      # (3, most_outcomes): of each decision of a step, if there is one network alone
    cdef vector[float] spare_q
    cdef vector[float] log_actions            # (n_actions,)
    cdef vector[float] log_tags               # (n_tags,)
    cdef vector[float] means                  # (3, width): before each decision of a step
    cdef vector[float] theta                  # (2, width): before the tag and the word
    cdef vector[float] spare_means
    cdef vector[float] log_words              # (most_outcomes,)
    cdef vector[const float*] summands
    cdef vector[int32_t] related              # branches, by relation
    cdef vector[int32_t] order
    cdef Workspace[float] workspace
    # what was done
    cdef readonly long n_pops, n_products, n_tag_softmaxes, n_word_softmaxes, n_word_outcomes

    def __init__(
        self, Networks networks, *, beam, branching, unary_cap, max_pops, margin, final_margin, tolerance
    ):
        self.networks, self.model = networks, &networks.model
        self.beam, self.branching, self.unary_cap, self.max_pops = beam, branching, unary_cap, max_pops
        self.margin, self.final_margin, self.tolerance = margin, final_margin, tolerance
        self.width = networks.model.width
        self.workspace.forcing = max(self.workspace.forcing, <float>tolerance)
        self.workspace.negligible = max(self.workspace.negligible, LEAST_SHARE * <float>tolerance)
        self.make_room()
        self.clear()

    def clear(self):
        """Begin a sentence, in the memory of the one before."""
        cdef Cell root
        cdef Hypothesis start
        cdef int f
        self.word_candidates.clear()
        self.tags.clear()
        self.outcomes.clear()
        self.first_form.clear()
        self.end_form.clear()
        self.form_rows.clear()
        self.input_of.clear()
        self.seen.clear()
        self.log_factors.clear()
        self.inputs.clear()
        self.cells.clear()
        self.branches.clear()
        self.hypotheses.clear()
        self.finals.clear()
        self.n_shifted = self.now = 0
        self.word_candidates.push_back(0)
        root.label, root.below = ROOT, NONE
        for f in range(N_FIELDS):
            root.fields[f] = NONE
        self.new_cell(root)
        start.log_probability, start.branch, start.cell, start.last_shift = 0, NONE, 0, NONE
        self.hypotheses.push_back(start)
        self.give_back_slots()

    @property
    def n_bytes(self):
        """Room for vectors, in bytes."""
        return sizeof(float) * (self.slots.capacity() + self.inputs.capacity() + self.thetas.capacity())

    cdef void make_room(self):
        cdef const Model* n = self.model
        self.logits.resize(n.most_outcomes)
        self.log_words.resize(n.most_outcomes)
        self.related.resize(max(n.n_latent, n.n_decisions))
        self.spare_q.resize(n.most_outcomes)
        self.q.resize(3 * n.most_outcomes)
        self.log_actions.resize(n.n_actions)
        self.log_tags.resize(n.first_word - n.n_actions)
        self.means.resize(3 * n.width)
        self.spare_means.resize(n.width)
        self.theta.resize(2 * n.width)

    # What callers ask

    def add(self, candidates):
        """Append words, as `Inventory.candidates` describes them."""
        cdef const int32_t[::1] offsets = candidates.offsets, tags = candidates.tags, outcomes = candidates.outcomes
        cdef const float[::1] log_factors = candidates.log_factors
        cdef const uint8_t[::1] has_forms = candidates.has_forms
        cdef const int32_t[::1] form_offsets = candidates.form_offsets, form_rows = candidates.form_rows
        cdef int word, c, first_form = <int>self.form_rows.size()
        for c in range(form_rows.shape[0]):
            self.form_rows.push_back(form_rows[c])
        for word in range(offsets.shape[0] - 1):
            for c in range(offsets[word], offsets[word + 1]):
                self.tags.push_back(tags[c])
                self.outcomes.push_back(outcomes[c])
                self.log_factors.push_back(log_factors[c])
                self.first_form.push_back(first_form + form_offsets[word])
                self.end_form.push_back(first_form + form_offsets[word + 1 if has_forms[c] else word])
                self.input_of.push_back(NONE)
            self.word_candidates.push_back(<int32_t>self.tags.size())

    def advance(self):
        """Shift the next of the words that were added."""
        with nogil:
            self.go_on(False)

    def finish(self):
        """Attach the whole trees to the root."""
        with nogil:
            self.go_on(True)

    def run(self, candidates):
        """Search a whole sentence from its start."""
        cdef int word
        self.add(candidates)
        with nogil:
            for word in range(<int>self.word_candidates.size() - 1):
                self.go_on(False)
            self.go_on(True)

    def copy(self):
        """A search that goes on from here by itself."""
        cdef Search new = Search(
            self.networks, beam=self.beam, branching=self.branching, unary_cap=self.unary_cap,
            max_pops=self.max_pops, margin=self.margin, final_margin=self.final_margin,
            tolerance=self.tolerance,
        )
        new.word_candidates, new.tags, new.outcomes = self.word_candidates, self.tags, self.outcomes
        new.log_factors, new.first_form, new.end_form = self.log_factors, self.first_form, self.end_form
        new.form_rows = self.form_rows
        new.input_of.assign(self.input_of.size(), NONE)
        new.cells, new.seen, new.now = self.cells, self.seen, self.now
        new.branches, new.hypotheses, new.n_shifted = self.branches, self.hypotheses, self.n_shifted
        self.copy_live_slots(new)
        return new

    cdef void copy_live_slots(self, Search new):
        cdef vector[int32_t] number
        cdef size_t stride = self.stride()
        cdef int slot
        cdef size_t b
        self.find_live_slots()
        number.assign(self.in_slot.size(), NONE)
        for slot in range(<int>self.in_slot.size()):
            if self.is_live[slot]:
                number[slot] = new.new_slot()
                memcpy(&new.slots[number[slot] * stride], &self.slots[slot * stride], stride * sizeof(float))
                new.in_slot[number[slot]] = self.in_slot[slot]
        for b in range(new.branches.size()):
            if new.branches[b].slot != NONE:
                new.branches[b].slot = number[new.branches[b].slot]

    def log_probabilities(self):
        """Of the hypotheses of the beam, best first, float64 (n,)."""
        cdef size_t i
        return np.array([self.hypotheses[i].log_probability for i in range(self.hypotheses.size())], dtype=np.float64)

    def final_log_probabilities(self):
        """Of the finished hypotheses, best first, float64 (n,)."""
        cdef size_t i
        return np.array([self.finals[i].log_probability for i in range(self.finals.size())], dtype=np.float64)

    def derivations(self):
        """What the hypotheses of the beam have built: for each the pair that `derivation_of` gives."""
        cdef Hypothesis each
        return [self.derivation_of(each.branch) for each in self.hypotheses]

    def final_derivations(self):
        """What the finished hypotheses have built."""
        cdef Hypothesis each
        return [self.derivation_of(each.branch) for each in self.finals]

    cdef tuple derivation_of(self, int32_t branch):
        """The nodes that a hypothesis has built, and its tags.

        RETURNS (tuple of (start, end, label)): pre-order; end is -1 of nodes that are still open.
        RETURNS (list of int): numbers of the words' tags.
        """
        cdef vector[int32_t] path, starts, ends, labels, stack
        cdef vector[int64_t] order
        cdef int64_t key
        cdef int32_t b = branch, n_words = 0, node
        cdef int k, action
        cdef list tags = []
        while b != NONE:
            path.push_back(b)
            b = self.branches[b].previous
        for k in range(<int>path.size() - 1, -1, -1):
            action = self.branches[path[k]].action
            if action == SHIFT:
                tags.append(self.tags[self.branches[path[k]].candidate])
                stack.push_back(-1 - n_words)
                n_words += 1
                continue
            node = stack.back()
            stack.pop_back()
            if node >= 0:
                ends[node] = n_words
            if action == ATTACH:
                continue
            if action == MODIFY:
                ends[stack.back()] = -1 - node if node < 0 else starts[node]
                node = stack.back()
                stack.pop_back()
                labels.push_back(labels[node])
            else:
                labels.push_back(action - PROJECT)
            starts.push_back(-1 - node if node < 0 else starts[node])
            ends.push_back(-1)
            stack.push_back(<int32_t>labels.size() - 1)
        for k in range(<int>labels.size()):
            order.push_back(place_of(starts[k], ends[k], k))
        sort(order.begin(), order.end())
        names = self.networks.labels
        nodes = []
        for key in order:
            k = node_at(key)
            nodes.append((starts[k], ends[k], names[labels[k]]))
        return tuple(nodes), tags

    # The search

    cdef void go_on(self, bint is_end) noexcept nogil:
        """Look for the best ways to shift the next word, or to end.

        Something is always found but where no number is left (nan): a Shift is scored wherever it is allowed, which is
        after one Project at the latest; and derivations without an end in reach are completed.
        """
        self.explore(is_end)
        if not is_end:
            self.keep_shifted()
        elif self.finals.empty():
            self.complete()

    cdef void explore(self, bint is_end) noexcept nogil:
        cdef Item item
        cdef int i, n
        self.queue.clear()
        self.states.clear()
        self.shifted.clear()
        self.finals.clear()
        self.n_theta = 0
        self.best_shift = -INFINITY
        self.slopes.clear()
        self.intercepts.clear()
        self.tangent_of.clear()
        if not is_end:
            self.tangent_of.resize(self.word_candidates[self.n_shifted + 1] - self.word_candidates[self.n_shifted], NONE)
        for i in range(<int>self.hypotheses.size()):
            self.put(self.hypotheses[i].log_probability, -1 - i, NONE)
        for n in range(self.max_pops):
            if self.queue.empty():
                break
            item = self.queue.front()
            if item.log_probability < (self.worst_final() if is_end else self.least() - self.best_shift - self.margin):
                break
            pop_heap(self.queue.begin(), self.queue.end(), is_worse)
            self.queue.pop_back()
            if item.action == DONE:
                self.end(item)
                if <int>self.finals.size() == self.beam:
                    break
            else:
                self.n_pops += 1
                self.expand(self.enter(item), item.log_probability, is_end)

    cdef void complete(self) noexcept nogil:
        """End each hypothesis of the beam by the most likely steps."""
        cdef Item item
        cdef int i
        for i in range(<int>self.hypotheses.size()):
            item.log_probability, item.state, item.action = self.hypotheses[i].log_probability, -1 - i, NONE
            while item.action != DONE:
                item.state = self.enter(item)
                if self.mask(self.states[item.state].cell) == NULL:
                    break
                self.score_actions(item.state, self.means_of(item.state), True)
                item.action = self.best_action()
                item.log_probability += self.log_actions[item.action]
                if not item.log_probability > -INFINITY:
                    break
                if item.action == ATTACH and self.is_last(self.states[item.state].cell):
                    item.action = DONE
            if item.action == DONE:
                self.end(item)
        sort(self.finals.begin(), self.finals.end(), is_likelier)

    cdef double worst_final(self) noexcept nogil:
        return -INFINITY if self.finals.empty() else self.finals[0].log_probability - self.final_margin

    cdef double least(self) noexcept nogil:
        """What a hypothesis must reach to enter the beam."""
        return self.shifted.front().log_probability if <int>self.shifted.size() == self.beam else -INFINITY

    cdef void put(self, double log_probability, int32_t state, int32_t action) noexcept nogil:
        cdef Item item
        if not log_probability > -INFINITY:
            return
        item.log_probability, item.state, item.action = log_probability, state, action
        self.queue.push_back(item)
        push_heap(self.queue.begin(), self.queue.end(), is_worse)

    cdef int32_t new_branch(self, int32_t previous, int32_t action, int32_t candidate, int32_t slot) noexcept nogil:
        cdef Branch branch
        branch.previous, branch.action, branch.candidate, branch.slot = previous, action, candidate, slot
        self.branches.push_back(branch)
        return <int32_t>self.branches.size() - 1

    cdef int32_t new_cell(self, const Cell& cell) noexcept nogil:
        self.cells.push_back(cell)
        self.seen.push_back(0)
        return <int32_t>self.cells.size() - 1

    cdef int32_t apply(self, int32_t top, int action, int32_t branch) noexcept nogil:
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

    cdef int enter(self, const Item& item) noexcept nogil:
        """Take a step, and compute the means at the position after it; the number of the new state."""
        cdef State state
        cdef State parent
        if item.state < 0:
            state.branch = self.hypotheses[-1 - item.state].branch
            state.cell = self.hypotheses[-1 - item.state].cell
            state.last_shift = self.hypotheses[-1 - item.state].last_shift
            state.n_projected = 0
        else:
            parent = self.states[item.state]
            state.branch = self.new_branch(parent.branch, item.action, NONE, parent.slot)
            state.cell = self.apply(parent.cell, item.action, state.branch)
            state.last_shift = parent.last_shift
            state.n_projected = parent.n_projected + 1 if item.action >= PROJECT else 0
        if self.model.settles and state.branch != NONE:
            self.settle_branch(state.branch, item.state)
        state.slot, state.theta = NONE, NONE
        self.compute(state)
        self.states.push_back(state)
        return <int>self.states.size() - 1

    cdef void compute(self, State& state) noexcept nogil:
        """The means of the position at a state before its decisions, or what they are the sigmoids of."""
        cdef const Model* n = self.model
        cdef float* theta = &self.theta[0]
        if n.settles:
            state.theta = self.new_theta()
        else:
            state.slot = self.new_slot()
        self.find_summands(state)
        if n.settles:
            theta = &self.thetas[<size_t>state.theta * self.width]
        sum_vectors(theta, self.summands.data(), <int>self.summands.size(), self.width)
        if not n.settles:
            self.sigmoids(&self.slots[state.slot * self.stride()], theta)

    cdef void sigmoids(self, float* means, const float* theta) noexcept nogil:
        cdef const Table* table
        cdef int k
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            sigmoid(means + table.start, theta + table.start, table.n_states)

    cdef void find_summands(self, const State& state) noexcept nogil:
        """Point to the vectors whose sum is theta at the position of a state."""
        cdef const Model* n = self.model
        cdef int r, c, b, p
        cdef uint32_t done = 0
        self.summands.clear()
        self.summands.push_back(n.bias)
        for r in range(n.n_latent):
            self.related[r] = self.resolve(state, n.latent[2 * r], n.latent[2 * r + 1])
        for c in range(n.n_couples):
            r, p = n.couples[2 * c], n.couples[2 * c + 1]
            if self.related[r] != NONE and self.related[r] == self.related[p]:
                self.summands.push_back(self.product(self.branches[self.related[r]].slot, n.n_latent + c))
                done |= <uint32_t>1 << r | <uint32_t>1 << p
        for r in range(n.n_latent):
            if self.related[r] != NONE and not done >> r & 1:
                self.summands.push_back(self.product(self.branches[self.related[r]].slot, r))
        for r in range(n.n_decisions):
            self.related[r] = self.resolve(state, n.decisions[2 * r], n.decisions[2 * r + 1])
            if self.related[r] != NONE:
                self.compute_inputs(self.branches[self.related[r]].candidate)
        for r in range(n.n_decisions):
            b = self.related[r]
            if b == NONE:
                continue
            c = self.branches[b].candidate
            if c == NONE:
                self.summands.push_back(
                    &n.action_rows[(<size_t>r * n.n_actions + self.branches[b].action) * self.width]
                )
            else:
                self.summands.push_back(&self.inputs[(<size_t>self.input_of[c] * n.n_decisions + r) * self.width])

    cdef int32_t resolve(self, const State& state, int depth, int field) noexcept nogil:
        """The branch that a relation leads to."""
        cdef int32_t cell = state.cell
        if depth < 0:
            return state.branch if field == 0 else state.last_shift
        while depth > 0 and cell != NONE:
            cell = self.cells[cell].below
            depth -= 1
        return NONE if cell == NONE else self.cells[cell].fields[field]

    cdef const float* product(self, int slot, int p) noexcept nogil:
        """The product of a matrix with the means in a slot."""
        cdef float* means = &self.slots[slot * self.stride()]
        cdef float* found = means + <size_t>(1 + p) * self.width
        cdef float* target
        cdef const float* source
        cdef const Table* table
        cdef int k
        if self.in_slot[slot] >> p & 1:
            return found
        self.in_slot[slot] |= <uint32_t>1 << p
        self.n_products += 1
        memset(found, 0, self.width * sizeof(float))
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            target, source = found + table.start, means + table.start
            add_products(&target, table.latent_weights + <size_t>p * table.n_states * table.width, &source, 1,
                         table.n_states, table.n_states)
        return found

    cdef void compute_inputs(self, int candidate) noexcept nogil:
        """The sums of the rows of a Shift, for each decision relation, unless they are there."""
        cdef const Model* n = self.model
        cdef const Table* table
        cdef const float* weights
        cdef float* sums
        cdef int k, r, row
        if candidate == NONE or self.input_of[candidate] != NONE:
            return
        self.input_of[candidate] = <int32_t>(self.inputs.size() / (n.n_decisions * self.width))
        self.inputs.resize(self.inputs.size() + n.n_decisions * self.width)
        for r in range(n.n_decisions):
            sums = &self.inputs[(<size_t>self.input_of[candidate] * n.n_decisions + r) * self.width]
            for k in range(n.n_networks):
                table = &n.tables[k]
                weights = table.decision_weights + <size_t>r * n.n_rows * table.width
                add_row(sums + table.start, weights, SHIFT, table.width)
                add_row(sums + table.start, weights, n.n_actions + self.tags[candidate], table.width)
                add_row(sums + table.start, weights, self.outcomes[candidate], table.width)
                for row in range(self.first_form[candidate], self.end_form[candidate]):
                    add_row(sums + table.start, weights, self.form_rows[row], table.width)

    # Decisions

    cdef void decide(self, int stage, int first, int end, const uint8_t* allowed, const float* means,
                     float* log_probabilities) noexcept nogil:
        """log P of each outcome of a range."""
        cdef const Model* n = self.model
        cdef Choice[float] choice
        cdef float normaliser
        cdef int d
        if n.settles and n.n_networks == 1:
            choice = self.choice(&n.tables[0], first, end, allowed)
            normaliser = softmax(log_probabilities, &self.q[<size_t>stage * n.most_outcomes], means, choice)
        else:
            self.add_all_logits(first, end, allowed, means, log_probabilities)
            memcpy(&self.logits[0], log_probabilities, (end - first) * sizeof(float))
            normaliser = log_sum_exp(&self.logits[0], end - first)
        for d in range(end - first):
            log_probabilities[d] -= normaliser

    cdef double log_word(self, int outcome, int first, int end, const float* means) noexcept nogil:
        """log P of a word under its tag."""
        cdef const Model* n = self.model
        cdef Choice[float] choice
        cdef double logit
        self.n_word_softmaxes += 1
        self.n_word_outcomes += end - first
        self.add_all_logits(first, end, NULL, means, &self.logits[0])
        logit = self.logits[outcome - first]
        return logit - log_sum_exp(&self.logits[0], end - first)

    cdef void add_all_logits(self, int first, int end, const uint8_t* allowed, const float* means,
                             float* logits) noexcept nogil:
        """The mean of the networks' logits."""
        cdef const Table* table
        cdef int k, d
        memset(logits, 0, (end - first) * sizeof(float))
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            add_logits(logits, table.outcome_weights + <size_t>first * table.width, table.outcome_bias + first,
                       means + table.start, 1.0 / self.model.n_networks, end - first, table.n_states)
        if allowed != NULL:
            for d in range(end - first):
                if not allowed[d]:
                    logits[d] = -INFINITY

    cdef Choice[float] choice(self, const Table* table, int first, int end, const uint8_t* allowed) noexcept nogil:
        cdef Choice[float] choice
        choice.weights = table.outcome_weights + <size_t>first * table.width
        choice.biases = table.outcome_bias + first
        choice.allowed = allowed
        choice.n_outcomes, choice.n_states = end - first, table.n_states
        return choice

    cdef void update(self, int stage, int first, int end, const uint8_t* allowed, int chosen, float* theta,
                     const float* means) noexcept nogil:
        """What a decision among a range does to theta, by whose means it was taken."""
        cdef const Model* n = self.model
        cdef Choice[float] choice
        cdef const Table* table
        cdef int k
        for k in range(n.n_networks):
            table = &n.tables[k]
            if table.approximation == FEED_FORWARD:
                continue
            choice = self.choice(table, first, end, allowed)
            if n.n_networks > 1:
                softmax(&self.logits[0], &self.spare_q[0], means + table.start, choice)
            else:
                memcpy(&self.spare_q[0], &self.q[<size_t>stage * n.most_outcomes], (end - first) * sizeof(float))
            if table.approximation == STEP:
                step(theta + table.start, &self.spare_q[0], choice, chosen - first, self.workspace)
            else:
                memcpy(&self.spare_means[0], means + table.start, table.width * sizeof(float))
                settle(theta + table.start, &self.spare_means[0], &self.logits[0], &self.spare_q[0], choice,
                       chosen - first, self.tolerance, self.workspace)

    cdef const uint8_t* mask(self, int32_t cell) noexcept nogil:
        """Which actions are allowed where a cell is on top; none is decided on where it is the root's."""
        cdef int below = self.cells[cell].below
        if below == NONE:
            return NULL
        return self.model.masks + self.model.n_actions * (
            2 * (self.cells[cell].label - LEAF) + (self.cells[below].label == ROOT))

    cdef void settle_branch(self, int32_t branch, int32_t parent) noexcept nogil:
        """The means of a position after all decisions of its step, unless they are there.

        parent (int): the state at the position, unless the step is a Shift.
        """
        cdef const Model* n = self.model
        cdef int slot = self.branches[branch].slot, c, first, end
        cdef float* theta = &self.theta[0]
        cdef float* means = &self.means[0]
        if slot == NONE:
            slot = self.new_slot()
            self.branches[branch].slot = slot
            memcpy(theta, &self.thetas[<size_t>self.states[parent].theta * self.width], self.width * sizeof(float))
            self.sigmoids(means, theta)
            self.decide(ACTIONS, 0, n.n_actions, self.mask(self.states[parent].cell), means, &self.log_actions[0])
            self.update(ACTIONS, 0, n.n_actions, self.mask(self.states[parent].cell), self.branches[branch].action,
                        theta, means)
        elif self.in_slot[slot] & UNSETTLED:
            self.in_slot[slot] = 0
            c = self.branches[branch].candidate
            first, end = n.word_offsets[self.tags[c]], n.word_offsets[self.tags[c] + 1]
            memcpy(theta, &self.slots[slot * self.stride()], self.width * sizeof(float))
            if end > first + 1:
                self.sigmoids(means, theta)
                self.decide(WORD, first, end, NULL, means, &self.log_words[0])
                self.update(WORD, first, end, NULL, self.outcomes[c], theta, means)
        else:
            return
        self.sigmoids(&self.slots[slot * self.stride()], theta)

    cdef const float* means_of(self, int s) noexcept nogil:
        """The means at a state before any decision; in scratch where decisions change them."""
        if not self.model.settles:
            return &self.slots[self.states[s].slot * self.stride()]
        self.sigmoids(&self.means[0], &self.thetas[<size_t>self.states[s].theta * self.width])
        return &self.means[0]

    cdef void score_actions(self, int s, const float* means, bint is_end) noexcept nogil:
        """log P of each action at a state whose top is not the root; -inf of those that are refused."""
        cdef int32_t cell = self.states[s].cell
        cdef int a
        self.decide(ACTIONS, 0, self.model.n_actions, self.mask(cell), means, &self.log_actions[0])
        if self.states[s].n_projected >= self.unary_cap:
            for a in range(PROJECT, self.model.n_actions):
                self.log_actions[a] = -INFINITY
        if is_end:
            self.log_actions[SHIFT] = -INFINITY
        elif self.is_last(cell):
            self.log_actions[ATTACH] = -INFINITY

    cdef bint is_last(self, int32_t cell) noexcept nogil:
        """Whether nothing but the root is below the top of the stack."""
        return self.cells[self.cells[cell].below].label == ROOT

    cdef int best_action(self) noexcept nogil:
        cdef int a, best = 0
        for a in range(1, self.model.n_actions):
            if self.log_actions[a] > self.log_actions[best]:
                best = a
        return best

    cdef void expand(self, int s, double log_probability, bint is_end) noexcept nogil:
        """Score what may come after a state."""
        cdef int32_t cell = self.states[s].cell
        cdef const uint8_t* mask = self.mask(cell)
        cdef const float* means = self.means_of(s)
        cdef int i, best
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
        if is_end and self.is_last(cell):
            self.put(log_probability + self.log_actions[ATTACH], s, DONE)
            self.log_actions[ATTACH] = -INFINITY
        for i in range(self.branching):
            best = self.best_action()
            if not self.may_enter(log_probability + self.log_actions[best]):
                break
            self.put(log_probability + self.log_actions[best], s, best)
            self.log_actions[best] = -INFINITY

    cdef bint may_enter(self, double log_probability) noexcept nogil:
        """Whether a hypothesis that has not shifted yet may be worth while."""
        return log_probability > -INFINITY and not (
            log_probability + self.best_shift + self.margin < self.least())

    cdef void shift(self, int s, double log_probability, const float* means, const uint8_t* mask) noexcept nogil:
        """Score the next word after a state under each of its tags.

        log_probability (float): with that of the action, which was decided on by the means, unless mask is NULL.
        """
        cdef const Model* n = self.model
        cdef int first = self.word_candidates[self.n_shifted], end = self.word_candidates[self.n_shifted + 1]
        cdef int i, c
        cdef float* theta = &self.theta[0]
        if not self.may_shift(log_probability, means):
            return
        if n.settles:
            memcpy(theta, &self.thetas[<size_t>self.states[s].theta * self.width], self.width * sizeof(float))
            if mask != NULL:
                self.update(ACTIONS, 0, n.n_actions, mask, SHIFT, theta, means)
                self.sigmoids(&self.means[self.width], theta)
                means = &self.means[self.width]
        self.n_tag_softmaxes += 1
        self.decide(TAG, n.n_actions, n.first_word, NULL, means, &self.log_tags[0])
        self.order.clear()
        for c in range(first, end):
            i = <int>self.order.size()
            self.order.push_back(c)
            while i > 0 and self.with_factor(self.order[i - 1]) < self.with_factor(c):
                self.order[i] = self.order[i - 1]
                i -= 1
            self.order[i] = c
        for i in range(end - first):
            c = self.order[i]
            if not log_probability + self.with_factor(c) > self.least():
                break
            self.shift_as(s, c, log_probability, means)

    cdef bint may_shift(self, double log_probability, const float* means) noexcept nogil:
        """Whether a Shift may enter the beam with any candidate, as far as tangents tell."""
        cdef int i, c
        if not log_probability > self.least():
            return False
        for i in range(<int>self.tangent_of.size()):
            c = self.word_candidates[self.n_shifted] + i
            if self.tangent_of[i] == NONE or (
                    log_probability + self.log_factors[c] + self.bound(c, 1, means) > self.least()):
                return True
        return False

    cdef double bound(self, int candidate, int which, const float* means) noexcept nogil:
        """What log P of a word under its tag (which = 0), or of both (1), does not exceed at some means."""
        cdef size_t number = 2 * self.tangent_of[candidate - self.word_candidates[self.n_shifted]] + which
        return self.intercepts[number] + product_of(&self.slopes[number * self.width], means, self.width) + ROUNDING

    cdef void draw_tangents(self, int candidate, int first, int end, double log_word, const float* means) noexcept nogil:
        """The tangents of a candidate's log-probabilities, which are concave in the means: they bound it elsewhere.

        log_word (float): of the word under its tag, to whose probabilities self.logits are proportional.
        """
        cdef const Model* n = self.model
        cdef int tag = self.tags[candidate], d, i
        cdef float* slopes
        cdef size_t number = self.intercepts.size()
        self.tangent_of[candidate - self.word_candidates[self.n_shifted]] = <int32_t>(number / 2)
        self.slopes.resize((number + 2) * self.width)
        slopes = &self.slopes[number * self.width]
        self.slope(slopes, self.outcomes[candidate], first, end, &self.logits[0])
        for d in range(n.first_word - n.n_actions):
            self.log_words[d] = exp(self.log_tags[d])
        self.slope(slopes + self.width, n.n_actions + tag, n.n_actions, n.first_word, &self.log_words[0])
        for i in range(self.width):
            slopes[self.width + i] += slopes[i]
        self.intercepts.push_back(log_word - product_of(slopes, means, self.width))
        self.intercepts.push_back(
            log_word + self.log_tags[tag] - product_of(slopes + self.width, means, self.width))

    cdef void slope(self, float* slope, int outcome, int first, int end, const float* weights) noexcept nogil:
        """The gradient by the means of an outcome's log P, where those of its range are proportional to weights."""
        cdef const Table* table
        cdef const float* own
        cdef double total = 0
        cdef int k, d, i
        for d in range(end - first):
            total += weights[d]
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            average(slope + table.start, weights, table.outcome_weights + <size_t>first * table.width, end - first,
                    table.n_states)
            own = table.outcome_weights + <size_t>outcome * table.width
            for i in range(table.width):
                slope[table.start + i] = (own[i] - slope[table.start + i] / total) / self.model.n_networks

    cdef double with_factor(self, int candidate) noexcept nogil:
        """log P of a candidate's tag, and of the word as one of those that its outcome stands for."""
        return self.log_tags[self.tags[candidate]] + <double>self.log_factors[candidate]

    cdef void shift_as(self, int s, int c, double log_probability, const float* means) noexcept nogil:
        """Score a Shift with a candidate; means and theta[0] are those before its tag."""
        cdef const Model* n = self.model
        cdef int tag = self.tags[c]
        cdef int first = n.word_offsets[tag], end = n.word_offsets[tag + 1]
        cdef double own, log_word = self.with_factor(c)
        cdef const float* theta = NULL
        cdef bint is_drawn
        if n.settles:
            memcpy(&self.theta[self.width], &self.theta[0], self.width * sizeof(float))
            self.update(TAG, n.n_actions, n.first_word, NULL, n.n_actions + tag, &self.theta[self.width], means)
            theta = &self.theta[self.width]
            self.sigmoids(&self.means[2 * self.width], theta)
            means = &self.means[2 * self.width]
        if end > first + 1 and n.settles:
            log_word += self.log_word(self.outcomes[c], first, end, means)
        elif end > first + 1:
            is_drawn = self.tangent_of[c - self.word_candidates[self.n_shifted]] != NONE
            if is_drawn and not log_probability + log_word + self.bound(c, 0, means) > self.least():
                return
            own = self.log_word(self.outcomes[c], first, end, means)
            if not is_drawn and <int>self.shifted.size() == self.beam:
                self.draw_tangents(c, first, end, own, means)
            log_word += own
        self.best_shift = max(self.best_shift, log_word + self.log_shift)
        self.keep(log_probability + log_word, s, c, theta)

    cdef void keep(self, double log_probability, int s, int c, const float* theta) noexcept nogil:
        """Put a Shift among the best, if it is one of them."""
        cdef Shifted new
        if not log_probability > self.least():
            return
        new.log_probability, new.state, new.candidate, new.theta = log_probability, s, c, NONE
        if <int>self.shifted.size() == self.beam:
            pop_heap(self.shifted.begin(), self.shifted.end(), is_better)
            new.theta = self.shifted.back().theta
            self.shifted.pop_back()
        if theta != NULL:
            if new.theta == NONE:
                new.theta = self.new_theta()
            memcpy(&self.thetas[<size_t>new.theta * self.width], theta, self.width * sizeof(float))
        self.shifted.push_back(new)
        push_heap(self.shifted.begin(), self.shifted.end(), is_better)

    cdef void keep_shifted(self) noexcept nogil:
        """The best Shifts become the beam."""
        cdef Shifted each
        cdef State state
        cdef Hypothesis new
        cdef Cell cell
        cdef int slot, f
        sort(self.shifted.begin(), self.shifted.end(), is_better)
        self.hypotheses.clear()
        for each in self.shifted:
            state = self.states[each.state]
            slot = state.slot
            if self.model.settles:
                slot = self.new_slot()
                self.in_slot[slot] = UNSETTLED
                memcpy(&self.slots[slot * self.stride()], &self.thetas[<size_t>each.theta * self.width],
                       self.width * sizeof(float))
            new.branch = self.new_branch(state.branch, SHIFT, each.candidate, slot)
            cell = self.cells[state.cell]
            cell.fields[CONTEXT] = new.branch
            cell.below = self.new_cell(cell)
            cell.label = LEAF
            for f in range(N_FIELDS):
                cell.fields[f] = NONE
            cell.fields[INTRODUCED] = cell.fields[LEFT_TERMINAL] = new.branch
            new.cell = self.new_cell(cell)
            new.last_shift = new.branch
            new.log_probability = each.log_probability
            self.hypotheses.push_back(new)
        self.n_shifted += 1
        self.give_back_slots()

    cdef void end(self, const Item& item) noexcept nogil:
        """Note a finished hypothesis."""
        cdef Hypothesis new
        cdef State state = self.states[item.state]
        new.log_probability, new.cell, new.last_shift = item.log_probability, state.cell, state.last_shift
        new.branch = self.new_branch(state.branch, ATTACH, NONE, NONE)
        self.finals.push_back(new)

    # Memory

    cdef size_t stride(self) noexcept nogil:
        return <size_t>self.width * (1 + self.model.n_products)

    cdef int32_t new_theta(self) noexcept nogil:
        self.n_theta += 1
        if self.thetas.size() < <size_t>self.n_theta * self.width:
            self.thetas.resize(<size_t>self.n_theta * self.width)
        return self.n_theta - 1

    cdef int32_t new_slot(self) noexcept nogil:
        cdef int32_t slot
        if self.free_slots.empty():
            slot = <int32_t>self.in_slot.size()
            self.in_slot.push_back(0)
            self.slots.resize(self.slots.size() + self.stride())
        else:
            slot = self.free_slots.back()
            self.free_slots.pop_back()
            self.in_slot[slot] = 0
        return slot

    cdef void give_back_slots(self) noexcept nogil:
        cdef int slot
        self.find_live_slots()
        self.free_slots.clear()
        for slot in range(<int>self.in_slot.size() - 1, -1, -1):
            if not self.is_live[slot]:
                self.free_slots.push_back(slot)

    cdef void find_live_slots(self) noexcept nogil:
        """Those that the beam may still read."""
        cdef Hypothesis each
        cdef int32_t cell
        cdef int f
        self.is_live.assign(self.in_slot.size(), 0)
        self.now += 1
        for each in self.hypotheses:
            self.find_live(each.branch)
            self.find_live(each.last_shift)
            cell = each.cell
            while cell != NONE and self.seen[cell] != self.now:
                self.seen[cell] = self.now
                for f in range(self.model.n_fields):
                    self.find_live(self.cells[cell].fields[self.model.fields[f]])
                cell = self.cells[cell].below

    cdef void find_live(self, int32_t branch) noexcept nogil:
        if branch != NONE and self.branches[branch].slot != NONE:
            self.is_live[self.branches[branch].slot] = 1


cdef void add_row(float* sums, const float* weights, int row, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        sums[i] += weights[<size_t>row * width + i]
