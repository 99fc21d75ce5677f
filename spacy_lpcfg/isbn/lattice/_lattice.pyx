"""A lattice of derivations, of no brackets but the allowed ones: word by word forward, and back for posteriors.

A vertex stands for all derivations that have come to one stack, and arcs lead from vertex to vertex. Within each word
vertices are expanded level by level: a level has the vertices of one depth of the stack, and of one number of nodes
projected in a row. No action leads to a deeper one, so that the levels can be taken from the deepest on; then the Shifts
become the vertices that the next word begins from. Stacks are numbers: equal ones have equal numbers, and share what is
below.

Differs from exact inference: a vertex keeps the vectors of its most probable derivation only, and the log-normaliser of
the words of a tag is a linear function of the means, as `isbn/normalizers.py` has it.
"""

cimport cython
from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int32_t, uint64_t, uint8_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.mean_field cimport add_products, product_of
from spacy_lpcfg.isbn.search._networks cimport (
    ATTACH, DONE, LEAF, MODIFY, NONE, PROJECT, ROOT, SHIFT, Model, NetworkTable, Networks, Scorer, SentenceWords)
from spacy_lpcfg.isbn.search._positions cimport History, Hypothesis, Positions, State

cdef int WIDEST = 2_000_000_000
cdef double NO_TOLERANCE = 0.1   # of means that decisions change, which the lattice has no use for
cdef int SMALLEST_TABLE = 1 << 10
cdef uint64_t SPREAD = 0x1E3779B97F4A7C15    # odd, so that products keep all bits apart


# Stacks -------------------------------------------------------------------------------------------


cdef struct Node:            # on a stack, with all below it: equal stacks are one node
    int32_t below            # a node
    int32_t label            # LEAF, ROOT, or that of a constituent
    int32_t start            # its first word
    int32_t first            # labels of its first and its last child; tags follow the labels; of a leaf its own tag
    int32_t last
    int32_t depth            # nodes below it
    int32_t reach            # the words that all nodes of the stack may hold: up to this one


@cython.final
cdef class Stacks:
    """The stacks of one sentence at a time, and the brackets that they may build.

    n_labels (int): of the networks.
    """

    cdef int n_words, n_labels
    cdef vector[uint8_t] closings             # (n_words, n_words + 1, n_labels): whether a bracket is allowed
    cdef vector[int32_t] ends                 # (n_words, n_labels): the last end of brackets from a word on; 0 for none
    cdef vector[Node] nodes
    cdef vector[int32_t] table                # of a power of two: nodes by their hashes, or NONE

    def __init__(self, int n_labels):
        self.n_labels = n_labels

    cdef int32_t start(self, int n_words, const int32_t[:, ::1] brackets) except -1:
        """Begin a sentence: the stack of the root alone.

        brackets (int32, (n, 3)): start, end and label of those that are allowed; a label of -1 is any.
        RAISES (ValueError): If one is not of these words, or has no such label.
        """
        cdef Node root
        cdef int i, label
        for i in range(brackets.shape[0]):
            if not (0 <= brackets[i, 0] < brackets[i, 1] <= n_words and -1 <= brackets[i, 2] < self.n_labels):
                raise ValueError(f"Expected brackets over {n_words} words, got {tuple(brackets[i])}.")
        self.n_words = n_words
        self.closings.assign(<size_t>n_words * (n_words + 1) * self.n_labels, 0)
        self.ends.assign(<size_t>n_words * self.n_labels, 0)
        for i in range(brackets.shape[0]):
            if brackets[i, 2] >= 0:
                self.allow(brackets[i, 0], brackets[i, 1], brackets[i, 2])
                continue
            for label in range(self.n_labels):
                self.allow(brackets[i, 0], brackets[i, 1], label)
        self.nodes.clear()
        self.table.assign(SMALLEST_TABLE, NONE)
        root.below, root.label, root.start, root.first, root.last = NONE, ROOT, 0, NONE, NONE
        root.depth, root.reach = 0, n_words
        return self.number_of(root)

    # Brackets

    cdef void allow(self, int start, int end, int label) noexcept nogil:
        cdef size_t place = <size_t>start * self.n_labels + label
        self.closings[(<size_t>start * (self.n_words + 1) + end) * self.n_labels + label] = 1
        self.ends[place] = max(self.ends[place], end)

    cdef inline bint may_close(self, const Node& node, int end) noexcept nogil:
        """Whether a node may end there."""
        return node.label < 0 or self.closings[
            (<size_t>node.start * (self.n_words + 1) + end) * self.n_labels + node.label]

    cdef inline int32_t last_end(self, int start, int label) noexcept nogil:
        """The last end of an allowed bracket with a label from a word on; 0 for none."""
        return self.ends[<size_t>start * self.n_labels + label]

    cdef inline bint is_alive(self, int32_t stack, int n_words) noexcept nogil:
        """Whether a stack may go on after so many words: by another word, or by closing its top."""
        return self.nodes[stack].reach > n_words or self.may_close(self.nodes[stack], n_words)

    # Steps

    cdef int32_t shift(self, int32_t stack, int n_words, int tag) noexcept nogil:
        """The stack after a Shift of the word that comes after so many."""
        cdef Node leaf = self.nodes[stack]
        leaf.below, leaf.label, leaf.start = stack, LEAF, n_words
        leaf.first = leaf.last = self.n_labels + tag
        leaf.depth += 1
        return self.number_of(leaf)

    cdef int32_t attach(self, int32_t stack) noexcept nogil:
        cdef Node node = self.nodes[self.nodes[stack].below]
        node.last = self.as_child(self.nodes[stack])
        return self.number_of(node)

    cdef int32_t modify(self, int32_t stack) noexcept nogil:
        cdef Node node = self.nodes[self.nodes[stack].below]
        node.first, node.last = node.label, self.as_child(self.nodes[stack])
        return self.number_of(node)

    cdef int32_t project(self, int32_t stack, int label) noexcept nogil:
        cdef Node node = self.nodes[stack]
        node.first = node.last = self.as_child(node)
        node.label = label
        node.reach = min(self.nodes[node.below].reach, self.last_end(node.start, label))
        return self.number_of(node)

    # Numbers

    cdef int32_t number_of(self, Node node) noexcept nogil:
        """The number of a node, which is new if there is no equal one."""
        cdef size_t place = self.place_of(node)
        if self.table[place] != NONE:
            return self.table[place]
        self.nodes.push_back(node)
        if 2 * self.nodes.size() > self.table.size():
            self.grow()
        else:
            self.table[place] = <int32_t>self.nodes.size() - 1
        return <int32_t>self.nodes.size() - 1

    cdef size_t place_of(self, const Node& node) noexcept nogil:
        """The place of a node in the table, or the free place for it."""
        cdef size_t place = hash_of(node) & (self.table.size() - 1)
        while self.table[place] != NONE and not is_equal(self.nodes[self.table[place]], node):
            place = (place + 1) & (self.table.size() - 1)
        return place

    cdef void grow(self) noexcept nogil:
        cdef size_t i
        self.table.assign(2 * self.table.size(), NONE)
        for i in range(self.nodes.size()):
            self.table[self.place_of(self.nodes[i])] = <int32_t>i

    cdef inline int32_t as_child(self, const Node& node) noexcept nogil:
        """The label or tag of a node as a child."""
        return node.label if node.label >= 0 else node.first


cdef bint is_equal(const Node& x, const Node& y) noexcept nogil:
    return (x.below == y.below and x.label == y.label and x.start == y.start and x.first == y.first
            and x.last == y.last)


cdef uint64_t hash_of(const Node& node) noexcept nogil:
    cdef uint64_t hashed = <uint64_t>(node.below + 1)
    hashed = hashed * SPREAD + <uint64_t>(node.label + 2)
    hashed = hashed * SPREAD + <uint64_t>node.start
    hashed = hashed * SPREAD + <uint64_t>(node.first + 1)
    hashed = hashed * SPREAD + <uint64_t>(node.last + 1)
    return hashed ^ hashed >> 29


# Vertices and arcs --------------------------------------------------------------------------------


cdef struct Vertex:          # all derivations that have come to the same stack
    double log_probability   # of all of them
    State state              # of the best of them
    int32_t stack            # a node
    int32_t tag              # of the last word
    int32_t n_words          # shifted so far


cdef struct Arc:
    double log_probability   # of all derivations that come by it
    int32_t origin           # a vertex
    int32_t action
    int32_t candidate        # of Shift
    int32_t stack            # after the action
    int32_t tag              # of the last word then
    int32_t target           # a vertex, once it is there; before, the next arc of the same level, or NONE


@cython.final
cdef class Graph:
    """The vertices and arcs of one sentence at a time.

    history (History): what the derivations share.
    merges (bool): whether derivations with equal stacks and last tags share a vertex; else each has its own.
    """

    cdef History history
    cdef bint merges
    cdef vector[Vertex] vertices
    cdef vector[Arc] arcs                     # to the vertices, in their order
    cdef vector[Vertex] groups                # scratch: vertices that are not there yet
    cdef vector[Arc] best                     # of each group
    cdef vector[int32_t] group_of             # of each arc
    cdef vector[int32_t] order

    def __init__(self, History history, bint merges):
        self.history, self.merges = history, merges

    cdef void start(self, const Vertex& first) noexcept nogil:
        """Begin a sentence with one vertex."""
        self.vertices.clear()
        self.arcs.clear()
        self.vertices.push_back(first)

    cdef void merge(self, const vector[Arc]& arcs, int width, double nats, double least) noexcept nogil:
        """Add the vertices that arcs lead to, the most probable ones, with their arcs.

        width (int): of the vertices, at most.
        nats (float): largest difference of their log-probability to the best one.
        least (float): their least log-probability.
        """
        cdef int n = 0, i, g
        self.group(arcs)
        sort_by_probability(self.order, self.groups)
        while n < <int>self.order.size() and n < width and self.is_kept(n, nats, least):
            n += 1
        for i in range(n):
            self.add_vertex(self.order[i])
            for g in range(<int>arcs.size()):
                if self.group_of[g] == self.order[i]:
                    self.arcs.push_back(arcs[g])
                    self.arcs.back().target = <int32_t>self.vertices.size() - 1

    cdef bint is_kept(self, int n, double nats, double least) noexcept nogil:
        cdef double own = self.groups[self.order[n]].log_probability
        return own >= least and own >= self.groups[self.order[0]].log_probability - nats

    cdef void group(self, const vector[Arc]& arcs) noexcept nogil:
        """Join arcs to the same vertex in groups."""
        cdef int g
        cdef size_t i
        self.groups.clear()
        self.best.clear()
        self.group_of.clear()
        self.order.clear()
        for i in range(arcs.size()):
            g = self.find_group(arcs[i])
            self.group_of.push_back(g)
            self.groups[g].log_probability = log_sum(self.groups[g].log_probability, arcs[i].log_probability)
            if arcs[i].log_probability > self.best[g].log_probability:
                self.best[g] = arcs[i]

    cdef int find_group(self, const Arc& arc) noexcept nogil:
        """The group of an arc, which is new if there is none."""
        cdef int g
        cdef Vertex vertex
        if self.merges:
            for g in range(<int>self.groups.size()):
                if self.groups[g].stack == arc.stack and self.groups[g].tag == arc.tag:
                    return g
        vertex.log_probability, vertex.stack, vertex.tag = -INFINITY, arc.stack, arc.tag
        vertex.n_words = self.vertices[arc.origin].n_words + (arc.action == SHIFT)
        self.order.push_back(<int32_t>self.groups.size())
        self.groups.push_back(vertex)
        self.best.push_back(arc)
        return <int>self.groups.size() - 1

    cdef void add_vertex(self, int group) noexcept nogil:
        """Add the vertex of a group, in the state after its best arc."""
        cdef Arc arc = self.best[group]
        cdef State state = self.vertices[arc.origin].state
        self.groups[group].state = self.history.after(state, arc.action, arc.candidate, state.slot)
        self.vertices.push_back(self.groups[group])


cdef double log_sum(double x, double y) noexcept nogil:
    """log (e ** x + e ** y)"""
    if x < y:
        x, y = y, x
    return x + log1p(exp(y - x)) if y > -INFINITY else x


cdef void sort_by_probability(vector[int32_t]& order, const vector[Vertex]& groups) noexcept nogil:
    """Sort the numbers of a few groups, the most probable first; equal ones stay in order."""
    cdef int i, k
    cdef int32_t own
    for i in range(1, <int>order.size()):
        own, k = order[i], i
        while k > 0 and groups[order[k - 1]].log_probability < groups[own].log_probability:
            order[k] = order[k - 1]
            k -= 1
        order[k] = own


# Scores of several vertices at once ---------------------------------------------------------------


@cython.final
cdef class Scores:
    """Means of vertices, and log-probabilities of their decisions.

    positions (Positions): that computes the means of one vertex.
    """

    cdef Positions positions
    cdef const Model* model
    cdef vector[vector[int32_t]] slots        # of each product: where it is still to be made
    cdef vector[const float*] means           # of the vertices at hand
    cdef vector[const float*] sources
    cdef vector[float*] targets
    cdef int n_outcomes                       # of the decision at hand
    cdef vector[float] logits                 # (n, n_outcomes)

    def __init__(self, Positions positions):
        self.positions, self.model = positions, positions.model
        self.slots.resize(self.model.n_products)

    # Means

    cdef void compute_means(self, vector[Vertex]& vertices, int first, int end) noexcept nogil:
        """Compute the means of vertices."""
        cdef int v, p
        for v in range(first, end):
            self.collect_products(vertices[v])
        for p in range(<int>self.slots.size()):
            if not self.slots[p].empty():
                self.positions.make_products(p, self.slots[p].data(), <int>self.slots[p].size())
                self.slots[p].clear()
        for v in range(first, end):
            self.positions.compute(vertices[v].state)

    cdef void collect_products(self, const Vertex& vertex) noexcept nogil:
        """Note the products that the means of a vertex need and that are not there."""
        cdef size_t i
        cdef int32_t slot, product
        self.positions.find_products(vertex.state)
        for i in range(self.positions.wanted.size()):
            slot, product = self.positions.wanted[i].first, self.positions.wanted[i].second
            if self.positions.history.lacks_product(slot, product):
                self.slots[product].push_back(slot)

    # Decisions

    cdef void add_all_logits(self, int first, int end) noexcept nogil:
        """The mean of the networks' logits of a range of outcomes, by all means at hand."""
        cdef const Model* n = self.model
        cdef const NetworkTable* table
        cdef int k, d, n_means = <int>self.means.size()
        cdef size_t i
        self.n_outcomes = end - first
        self.logits.assign(<size_t>n_means * self.n_outcomes, 0)
        for k in range(n.n_networks):
            table = &n.tables[k]
            self.sources.clear()
            self.targets.clear()
            for i in range(self.means.size()):
                self.sources.push_back(self.means[i] + table.start)
                self.targets.push_back(&self.logits[i * self.n_outcomes])
                for d in range(self.n_outcomes):
                    self.targets[i][d] += table.outcome_bias[first + d]
            add_products(self.targets.data(), table.outcome_weights + <size_t>first * table.width,
                         self.sources.data(), n_means, self.n_outcomes, table.n_states)
        if n.n_networks > 1:
            for i in range(self.logits.size()):
                self.logits[i] /= n.n_networks

    cdef const float* decide(self, int number, const uint8_t* allowed) noexcept nogil:
        """Replace the logits by one of the means at hand by log P of the outcomes; their pointer."""
        cdef float* logs = &self.logits[<size_t>number * self.n_outcomes]
        self.positions.scorer.to_logs(logs, self.n_outcomes, allowed)
        return logs

    cdef double log_word(self, int tag, int outcome, const float* means) noexcept nogil:
        """log P of a word under its tag."""
        cdef int first = self.model.word_offsets[tag], end = self.model.word_offsets[tag + 1]
        if end == first + 1:
            return 0
        return self.logit(outcome, means) - self.log_normalizer(tag, means)

    cdef double log_normalizer(self, int tag, const float* means) noexcept nogil:
        """The log-normaliser of the words of a tag, by its linear function."""
        cdef int width = self.model.width
        return self.model.intercepts[tag] + product_of(self.model.slopes + <size_t>tag * width, means, width)

    cdef double logit(self, int outcome, const float* means) noexcept nogil:
        """The mean of the networks' logits."""
        cdef const NetworkTable* table
        cdef double total = 0
        cdef int k
        for k in range(self.model.n_networks):
            table = &self.model.tables[k]
            total += table.outcome_bias[outcome] + product_of(
                table.outcome_weights + <size_t>outcome * table.width, means + table.start, table.width)
        return total / self.model.n_networks


# Arcs within a word -------------------------------------------------------------------------------


@cython.final
cdef class LevelExpansion:
    """Expands vertices, those of a level at once.

    unary_cap (int): most nodes that are projected in a row.
    nats (float): as in `LatticeSettings`.
    """

    cdef Graph graph
    cdef Stacks stacks
    cdef Scores scores
    cdef History history
    cdef const Model* model
    cdef int unary_cap, max_depth
    cdef double nats
    cdef vector[Arc] arcs                     # to vertices that are not there yet
    cdef vector[int32_t] last_of              # (max_depth + 1, unary_cap + 1): the last arc of each level, or NONE
    cdef vector[double] best_of               # of each level: log-probability of an arc
    cdef vector[Arc] level                    # the arcs of one level
    cdef vector[Arc] shifts                   # that are still without a tag
    cdef vector[Arc] ends                     # of the sentence
    cdef double best                          # log-probability of these

    def __init__(self, Graph graph, Stacks stacks, Scores scores, int unary_cap, double nats):
        self.graph, self.stacks, self.scores, self.history = graph, stacks, scores, graph.history
        self.model, self.unary_cap, self.nats = &self.history.networks.model, unary_cap, nats

    cdef void begin(self, int first, int end) noexcept nogil:
        """Begin the search for a word, from some vertices."""
        cdef int v
        self.arcs.clear()
        self.shifts.clear()
        self.ends.clear()
        self.best = -INFINITY
        self.max_depth = 0
        for v in range(first, end):
            self.max_depth = max(self.max_depth, self.stacks.nodes[self.graph.vertices[v].stack].depth)
        self.last_of.assign(<size_t>(self.max_depth + 1) * (self.unary_cap + 1), NONE)
        self.best_of.assign(self.last_of.size(), -INFINITY)

    cdef void take_level(self, int depth, int n_projected) noexcept nogil:
        """Collect the arcs to a level."""
        cdef int32_t i = self.last_of[<size_t>depth * (self.unary_cap + 1) + n_projected]
        self.level.clear()
        while i != NONE:
            self.level.push_back(self.arcs[i])
            i = self.arcs[i].target

    # From vertices

    cdef void expand(self, int first, int end) noexcept nogil:
        """Put the arcs from vertices to their levels; Shifts and the ends of sentences are kept apart."""
        cdef const uint8_t* mask
        cdef int v
        self.scores.compute_means(self.graph.vertices, first, end)
        self.scores.means.clear()
        for v in range(first, end):
            self.scores.means.push_back(self.history.means(self.graph.vertices[v].state.slot))
        self.scores.add_all_logits(0, self.model.n_actions)
        for v in range(first, end):
            mask = self.history.mask(self.graph.vertices[v].state.cell)
            if mask == NULL:
                self.leave(self.shifts, v, SHIFT, 0)
            else:
                self.follow(v, self.scores.decide(v - first, mask))

    cdef void follow(self, int v, const float* logs) noexcept nogil:
        """Put the arcs from a vertex.

        logs: log P of the actions, -inf of those that are not allowed.
        """
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        if top.reach > vertex.n_words and logs[SHIFT] > -INFINITY:
            self.leave(self.shifts, v, SHIFT, logs[SHIFT])
        if self.stacks.may_close(top, vertex.n_words):
            self.close(v, logs)
            if vertex.state.n_projected < self.unary_cap:
                self.project(v, logs)

    cdef void close(self, int v, const float* logs) noexcept nogil:
        """Put the arcs that end the top of the stack and attach it."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef Node below = self.stacks.nodes[top.below]
        cdef size_t level = <size_t>(top.depth - 1) * (self.unary_cap + 1)
        if below.label != ROOT:
            if self.may_enter(level, vertex.log_probability + logs[ATTACH]):
                self.put(level, v, ATTACH, logs[ATTACH], self.stacks.attach(vertex.stack))
            if self.may_enter(level, vertex.log_probability + logs[MODIFY]) and self.stacks.may_close(below, top.start):
                self.put(level, v, MODIFY, logs[MODIFY], self.stacks.modify(vertex.stack))
        elif vertex.n_words == self.stacks.n_words:
            self.leave(self.ends, v, DONE, logs[ATTACH])

    cdef void project(self, int v, const float* logs) noexcept nogil:
        """Put the arcs that end the top of the stack under a new node."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef size_t level = <size_t>top.depth * (self.unary_cap + 1) + vertex.state.n_projected + 1
        cdef int label, action
        for label in range(self.model.n_actions - PROJECT):
            action = PROJECT + label
            if self.stacks.last_end(top.start, label) >= vertex.n_words and self.may_enter(
                    level, vertex.log_probability + logs[action]):
                self.put(level, v, action, logs[action], self.stacks.project(vertex.stack, label))

    # Arcs

    cdef void put(self, size_t level, int v, int action, float log_action, int32_t stack) noexcept nogil:
        """Put an arc to its level, unless its stack leads nowhere."""
        cdef Arc arc
        if not self.stacks.is_alive(stack, self.graph.vertices[v].n_words):
            return
        arc = self.arc_of(v, action, log_action, stack)
        self.best_of[level] = max(self.best_of[level], arc.log_probability)
        arc.target = self.last_of[level]
        self.last_of[level] = <int32_t>self.arcs.size()
        self.arcs.push_back(arc)

    cdef void leave(self, vector[Arc]& arcs, int v, int action, float log_action) noexcept nogil:
        """Put an arc out of the word."""
        arcs.push_back(self.arc_of(v, action, log_action, 0))
        self.best = max(self.best, arcs.back().log_probability)

    cdef Arc arc_of(self, int v, int action, float log_action, int32_t stack) noexcept nogil:
        cdef Arc arc
        arc.log_probability = self.graph.vertices[v].log_probability + log_action
        arc.origin, arc.action, arc.candidate, arc.stack = v, action, NONE, stack
        arc.tag = NONE if action == DONE else self.graph.vertices[v].tag
        arc.target = NONE
        return arc

    cdef inline double least(self) noexcept nogil:
        """The log-probability below which nothing within the word is followed."""
        return self.best - self.nats

    cdef inline bint may_enter(self, size_t level, double log_probability) noexcept nogil:
        """Whether an arc is worth following."""
        return (log_probability > -INFINITY and log_probability >= self.least()
                and log_probability >= self.best_of[level] - self.nats)


# Arcs to the next word ----------------------------------------------------------------------------


@cython.final
cdef class Shifting:
    """Scores the Shifts of a word."""

    cdef Graph graph
    cdef Stacks stacks
    cdef Scores scores
    cdef SentenceWords words
    cdef const Model* model
    cdef vector[Arc] likely
    cdef vector[Arc] arcs                     # with tag and word

    def __init__(self, Graph graph, Stacks stacks, Scores scores, SentenceWords words):
        self.graph, self.stacks, self.scores, self.words = graph, stacks, scores, words
        self.model = scores.model

    cdef void shift(self, const vector[Arc]& shifts, double least) noexcept nogil:
        """Leave in `arcs` the Shifts that are at least so probable before tag and word, under each tag."""
        cdef const Model* n = self.model
        cdef size_t i
        self.arcs.clear()
        self.likely.clear()
        self.scores.means.clear()
        for i in range(shifts.size()):
            if shifts[i].log_probability >= least:
                self.likely.push_back(shifts[i])
                self.scores.means.push_back(
                    self.graph.history.means(self.graph.vertices[shifts[i].origin].state.slot))
        self.scores.add_all_logits(n.n_actions, n.first_word)
        for i in range(self.likely.size()):
            self.shift_from(self.likely[i], self.scores.means[i], self.scores.decide(<int>i, NULL))

    cdef void shift_from(self, const Arc& arc, const float* means, const float* log_tags) noexcept nogil:
        """Put the arcs of one Shift; means and log P of all tags are those of its vertex."""
        cdef Vertex vertex = self.graph.vertices[arc.origin]
        cdef Arc new = arc
        cdef int c
        for c in range(self.words.offsets[vertex.n_words], self.words.offsets[vertex.n_words + 1]):
            new.candidate, new.tag = c, self.words.candidates[c].tag
            new.stack = self.stacks.shift(vertex.stack, vertex.n_words, new.tag)
            new.log_probability = arc.log_probability + log_tags[new.tag] + <double>self.words.candidates[c].log_factor
            new.log_probability += self.scores.log_word(new.tag, self.words.candidates[c].outcome, means)
            self.arcs.push_back(new)


# Posteriors ---------------------------------------------------------------------------------------


cdef struct Closing:         # of a bracket
    int32_t start, end, label
    double posterior
    double height            # nodes over the same words below it, less any right above it, times its posterior


@cython.final
cdef class LatticePosteriors:
    """The posteriors of one sentence at a time: each vertex has the share of all derivations that pass it."""

    cdef Graph graph
    cdef Stacks stacks
    cdef vector[double] of_vertices
    cdef vector[double] of_candidates
    cdef vector[Closing] closings

    def __init__(self, Graph graph, Stacks stacks):
        self.graph, self.stacks = graph, stacks

    cdef void compute(self, int first_end, int n_candidates) noexcept nogil:
        """Compute the posteriors of a whole sentence.

        first_end (int): the vertices from here on are the ends of the sentence.
        """
        cdef Arc arc
        cdef int i
        cdef double posterior
        self.closings.clear()
        self.of_candidates.assign(n_candidates, 0)
        self.share(first_end)
        for i in range(<int>self.graph.arcs.size() - 1, -1, -1):
            arc = self.graph.arcs[i]
            posterior = self.of_vertices[arc.target] * exp(
                arc.log_probability - self.graph.vertices[arc.target].log_probability)
            self.of_vertices[arc.origin] += posterior
            if arc.candidate >= 0:
                self.of_candidates[arc.candidate] += posterior
            elif posterior > 0:
                self.close(arc.origin, arc.action, posterior)
        self.sum_up()

    cdef void share(self, int first_end) noexcept nogil:
        """The shares of the ends in the probability of the sentence."""
        cdef double total = 0, best = self.graph.vertices[first_end].log_probability
        cdef size_t v
        self.of_vertices.assign(self.graph.vertices.size(), 0)
        for v in range(first_end, self.graph.vertices.size()):
            self.of_vertices[v] = exp(self.graph.vertices[v].log_probability - best)
            total += self.of_vertices[v]
        for v in range(first_end, self.graph.vertices.size()):
            self.of_vertices[v] /= total

    cdef void close(self, int32_t v, int32_t action, double posterior) noexcept nogil:
        """Add the brackets that an action at a vertex ends."""
        cdef Vertex vertex = self.graph.vertices[v]
        cdef Node top = self.stacks.nodes[vertex.stack]
        cdef Node below = self.stacks.nodes[top.below]
        if top.label >= 0:
            self.close_bracket(top.start, vertex.n_words, top.label, posterior,
                               vertex.state.n_projected - (action >= PROJECT))
        if action == MODIFY:
            self.close_bracket(below.start, top.start, below.label, posterior, 0)

    cdef void close_bracket(self, int start, int end, int label, double posterior, int height) noexcept nogil:
        """Add a bracket; height is the number of nodes over the same words below it, less any right above it."""
        cdef Closing closing
        closing.start, closing.end, closing.label = start, end, label
        closing.posterior, closing.height = posterior, posterior * height
        self.closings.push_back(closing)

    cdef void sum_up(self) noexcept nogil:
        """Sum what there is of each bracket, and put them in pre-order."""
        cdef size_t i, n = 0
        sort(self.closings.begin(), self.closings.end(), is_before)
        for i in range(self.closings.size()):
            if n > 0 and is_same(self.closings[n - 1], self.closings[i]):
                self.closings[n - 1].posterior += self.closings[i].posterior
                self.closings[n - 1].height += self.closings[i].height
            else:
                self.closings[n] = self.closings[i]
                n += 1
        self.closings.resize(n)
        sort(self.closings.begin(), self.closings.end(), is_outside)


cdef bint is_same(const Closing& x, const Closing& y) noexcept nogil:
    return x.start == y.start and x.end == y.end and x.label == y.label


cdef bint is_before(const Closing& x, const Closing& y) noexcept nogil:
    if x.start != y.start:
        return x.start < y.start
    return x.end > y.end if x.end != y.end else x.label < y.label


cdef bint is_outside(const Closing& x, const Closing& y) noexcept nogil:
    """Whether a bracket comes before another one: over the same words the one that is higher on average."""
    if x.start != y.start or x.end != y.end:
        return is_before(x, y)
    return x.height * y.posterior > y.height * x.posterior


# The lattice of a sentence ------------------------------------------------------------------------


cdef class Lattice:
    """The lattice of one sentence at a time.

    networks (Networks): feed-forward ones.
    settings (LatticeSettings): of the search.
    unary_cap (int): as in `BeamSettings`.
    merges (bool): whether derivations with equal stacks share a vertex; else each has its own.
    """

    cdef Networks networks
    cdef SentenceWords words
    cdef History history
    cdef Stacks stacks
    cdef Graph graph
    cdef Scores scores
    cdef LevelExpansion expansion
    cdef Shifting shifting
    cdef LatticePosteriors posteriors
    cdef vector[Hypothesis] live             # after the last word
    cdef int width
    cdef double nats
    cdef int first                            # vertex from which the next word is sought; those after it too

    def __init__(self, Networks networks, settings, *, unary_cap, merges=True):
        cdef Positions positions
        self.networks, self.width, self.nats = networks, settings.width, settings.nats
        self.words, self.history = SentenceWords(networks), History(networks)
        positions = Positions(self.words, self.history, Scorer(networks, NO_TOLERANCE))
        self.stacks = Stacks(len(networks.labels))
        self.graph = Graph(self.history, merges)
        self.scores = Scores(positions)
        self.expansion = LevelExpansion(self.graph, self.stacks, self.scores, unary_cap, self.nats)
        self.shifting = Shifting(self.graph, self.stacks, self.scores, self.words)
        self.posteriors = LatticePosteriors(self.graph, self.stacks)

    def begin(self, candidates, brackets):
        """Begin a sentence, in the memory of the one before.

        candidates (Candidates): of its words.
        brackets (int32, (n, 3)): start, end and label of those that are allowed; a label of -1 is any.
        """
        cdef Vertex first
        self.words.clear()
        self.words.add(candidates)
        first.stack = self.stacks.start(<int>self.words.offsets.size() - 1, brackets)
        first.state = self.history.start().state
        first.log_probability, first.tag, first.n_words = 0, NONE, 0
        self.graph.start(first)
        self.first = 0
        self.give_back_slots()

    def advance(self):
        """Shift the next word; return whether a derivation is left."""
        with nogil:
            self.explore()
            self.shifting.shift(self.expansion.shifts, self.expansion.least())
            self.first = <int>self.graph.vertices.size()
            self.graph.merge(self.shifting.arcs, self.width, self.nats, -INFINITY)
            self.give_back_slots()
        return self.is_alive()

    def finish(self):
        """End the sentence, and compute the posteriors; return whether a derivation is left."""
        with nogil:
            self.explore()
            self.first = <int>self.graph.vertices.size()
            self.graph.merge(self.expansion.ends, WIDEST, INFINITY, -INFINITY)
            if self.first < <int>self.graph.vertices.size():
                self.posteriors.compute(self.first, <int>self.words.candidates.size())
        return self.is_alive()

    cdef bint is_alive(self) noexcept nogil:
        """Whether a derivation is left."""
        return self.first < <int>self.graph.vertices.size()

    def brackets(self, double least):
        """Return the posteriors of the brackets that are at least so likely, in pre-order, outer ones first.

        RETURNS (dict of (start, end, label) to float): a bracket that a tree has twice counts twice, but for no more
            than 1.
        """
        cdef Closing closing
        cdef dict likely = {}
        for closing in self.posteriors.closings:
            if closing.posterior >= least:
                label = self.networks.labels[closing.label]
                likely[closing.start, closing.end, label] = min(closing.posterior, 1.0)
        return likely

    def tags(self):
        """Return the posteriors of the tags of each word, list of dict of str to float."""
        cdef int word, c
        cdef list of_words = []
        for word in range(<int>self.words.offsets.size() - 1):
            of_words.append({
                self.networks.tags[self.words.candidates[c].tag]: min(self.posteriors.of_candidates[c], 1.0)
                for c in range(self.words.offsets[word], self.words.offsets[word + 1])
                if self.posteriors.of_candidates[c] > 0
            })
        return of_words

    @property
    def n_vertices(self):
        """Vertices so far."""
        return self.graph.vertices.size()

    @property
    def n_bytes(self):
        """Memory that grows with the sentence, in bytes."""
        return (
            sizeof(float) * (self.history.slots.capacity() + self.words.inputs.capacity())
            + sizeof(Vertex) * self.graph.vertices.capacity() + sizeof(Arc) * self.graph.arcs.capacity()
            + sizeof(Node) * self.stacks.nodes.capacity() + sizeof(int32_t) * self.stacks.table.capacity()
            + self.stacks.closings.capacity() + sizeof(Closing) * self.posteriors.closings.capacity())

    # Forward

    cdef void explore(self) noexcept nogil:
        """Expand the vertices after the last word, and all levels below them."""
        cdef int depth, n_projected, first, end = <int>self.graph.vertices.size()
        self.expansion.begin(self.first, end)
        self.expansion.expand(self.first, end)
        for depth in range(self.expansion.max_depth, 0, -1):
            for n_projected in range(self.expansion.unary_cap + 1):
                self.expansion.take_level(depth, n_projected)
                if self.expansion.level.empty():
                    continue
                first = <int>self.graph.vertices.size()
                self.graph.merge(self.expansion.level, self.width, self.nats, self.expansion.least())
                end = <int>self.graph.vertices.size()
                if first < end:
                    self.expansion.expand(first, end)

    cdef void give_back_slots(self) noexcept nogil:
        """Free the vectors that the vertices after the last word cannot reach."""
        cdef Hypothesis live
        cdef size_t v
        self.live.clear()
        for v in range(self.first, self.graph.vertices.size()):
            live.log_probability, live.state = self.graph.vertices[v].log_probability, self.graph.vertices[v].state
            self.live.push_back(live)
        self.history.give_back_slots(self.live)
