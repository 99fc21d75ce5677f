"""The pruned chart of one sentence, shared by every grammar that reads it; its best tree by any scores of its edges
(Goodman 1996), and its brackets with their posteriors.

Posteriors of brackets and tags are sums over the symbols of a cell. A symbol counts once for a label that stands twice
in its chain, as in NP|VP|NP.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.vectors cimport fill


# The forest ---------------------------------------------------------------------------------------


cdef class Forest:
    @property
    def n_items(self):
        return self.items.size()

    @property
    def n_edges(self):
        return self.edges.size()

    cdef bint has_tree(self) except -1 nogil:
        """Whether the edges hold a tree over the whole sentence."""
        cdef vector[char] stands
        cdef int item, e
        fill(stands, self.items.size(), False)
        for item in range(<int>self.items.size()):
            stands[item] = self.items[item].row >= 0
            for e in range(self.first_edge[item], self.first_edge[item + 1]):
                stands[item] |= stands[self.edges[e].left] and stands[self.edges[e].right]
        for item in self.roots:
            if stands[item]:
                return True
        return False

    def restricted(self, const char[::1] is_allowed):
        """Return the forest of allowed items, int8 (n_items,), and of the edges between them; it may hold no tree."""
        cdef Forest part = Forest()
        cdef vector[int32_t] place
        cdef Edge edge
        cdef int item, e
        part.n_words, part.log_probability, part.is_complete = self.n_words, self.log_probability, self.is_complete
        with nogil:
            fill(place, self.items.size(), -1)
            part.first_edge.push_back(0)
            for item in range(<int>self.items.size()):
                if not is_allowed[item]:
                    continue
                place[item] = <int32_t>part.items.size()
                part.items.push_back(self.items[item])
                part.item_posteriors_.push_back(self.item_posteriors_[item])
                part.scales.push_back(self.scales[item])
                part.factors.push_back(self.factors[item])
                for e in range(self.first_edge[item], self.first_edge[item + 1]):
                    edge = self.edges[e]
                    edge.target, edge.left, edge.right = place[item], place[edge.left], place[edge.right]
                    if edge.left >= 0 and edge.right >= 0:
                        part.edges.push_back(edge)
                        part.edge_posteriors_.push_back(self.edge_posteriors_[e])
                part.first_edge.push_back(<int32_t>part.edges.size())
            for item in self.roots:
                if place[item] >= 0:
                    part.roots.push_back(place[item])
        return part

    cdef void clear(self) noexcept nogil:
        self.items.clear()
        self.edges.clear()
        self.first_edge.clear()
        self.item_posteriors_.clear()
        self.edge_posteriors_.clear()
        self.scales.clear()
        self.factors.clear()
        self.roots.clear()

    def item_table(self):
        """Items as int32 (n_items, 4): start, end, symbol, lexicon row or -1."""
        return self._table(self.items.size(), <int32_t*>self.items.data())

    def edge_table(self):
        """Edges as int32 (n_edges, 4): target, left and right item, rule."""
        return self._table(self.edges.size(), <int32_t*>self.edges.data())

    cdef _table(self, size_t n, int32_t* data):
        return np.array(<int32_t[:n, :4]>data) if n else np.empty((0, 4), dtype=np.int32)

    def item_posteriors(self):
        """Marginals of the items under the treebank PCFG, float64 (n_items,)."""
        return as_array(self.item_posteriors_)

    def edge_posteriors(self):
        """Marginals of the edges under the treebank PCFG, float64 (n_edges,)."""
        return as_array(self.edge_posteriors_)


cdef as_array(vector[double]& values):
    """A copy as float64 (n,)."""
    cdef size_t n = values.size()
    return np.array(<double[:n]>values.data()) if n else np.empty(0)


# Trees and brackets -------------------------------------------------------------------------------


def best_tree(Forest forest, const double[::1] edge_scores, const double[::1] item_scores):
    """Return the items of the tree that maximises the sum of the scores of its edges and leaves.

    edge_scores (float64, (n_edges,)), item_scores (float64, (n_items,)): of the latter only leaves are read.
    RETURNS (int32, (n_nodes,)): items in pre-order; empty if the forest holds no tree.
    """
    cdef vector[double] best
    cdef vector[int32_t] choice, stack, nodes
    cdef int item, e, root = -1
    cdef double score
    cdef Edge edge
    with nogil:
        fill(best, forest.items.size(), -INFINITY)
        fill(choice, forest.items.size(), -1)
        for item in range(<int>forest.items.size()):
            if forest.items[item].row >= 0:
                best[item] = item_scores[item]
            for e in range(forest.first_edge[item], forest.first_edge[item + 1]):
                edge = forest.edges[e]
                score = edge_scores[e] + best[edge.left] + best[edge.right]
                if score > best[item]:
                    best[item] = score
                    choice[item] = e
        for item in forest.roots:
            if best[item] > -INFINITY and (root < 0 or best[item] > best[root]):
                root = item
        if root >= 0:
            stack.push_back(root)
        while not stack.empty():
            item = stack.back()
            stack.pop_back()
            nodes.push_back(item)
            if choice[item] >= 0:
                stack.push_back(forest.edges[choice[item]].right)
                stack.push_back(forest.edges[choice[item]].left)
    return np.array(nodes, dtype=np.int32)


def tree_items(Forest forest, const int32_t[::1] nodes, const char[::1] is_intermediate):
    """Return which items may be part of a binarisation of a tree, int8 (n_items,).

    nodes (int32, (n_nodes,)): the items of one binarisation, in pre-order.
    is_intermediate (int8, (n_symbols,)): whether a symbol is of binarisation. Such items may stand wherever they cross
        no bracket of the tree and are none; others where the tree has them.
    """
    cdef int width = forest.n_words + 1, k, post
    cdef vector[char] is_bracket = vector[char](width * width, False)
    cdef vector[int32_t] end_of = vector[int32_t](width, forest.n_words)   # of the least bracket around each fencepost
    cdef vector[int32_t] start_of = vector[int32_t](width, 0)
    cdef Item item
    found_ = np.zeros(forest.items.size(), dtype=np.int8)
    cdef char[::1] found = found_
    for k in range(<int>nodes.shape[0]):
        item = forest.items[nodes[k]]
        if is_intermediate[item.symbol]:
            continue
        found[nodes[k]] = True
        is_bracket[item.start * width + item.end] = True
        for post in range(item.start + 1, item.end):
            start_of[post], end_of[post] = item.start, item.end
    for k in range(<int>forest.items.size()):
        item = forest.items[k]
        found[k] |= (
            is_intermediate[item.symbol] and not is_bracket[item.start * width + item.end]
            and item.end <= end_of[item.start] and item.start >= start_of[item.end]
        )
    return found_


def bracket_scores(Forest forest, LabelTable table, const double[::1] marginals, double cost):
    """Return the scores by which `best_tree` finds the tree with the most right brackets and tags to be expected.

    marginals (float64, (n_items,)): of the items.
    cost (float): of a bracket, taken from its posterior.
    RETURNS (float64 (n_edges,), float64 (n_items,)): the summed scores of the brackets of an edge's target, and of
        those of each item, with its tag's posterior if it is a leaf. The second bracket of a label in a chain, as in
        NP|VP|NP, has the item's marginal for its posterior.
    """
    cdef double[::1] edges = np.empty(forest.edges.size()), items = np.zeros(forest.items.size())
    cdef CellSums sums = CellSums(table)
    cdef int item, end = 0, c, e, symbol
    with nogil:
        for item in range(<int>forest.items.size()):
            if item == end:
                end = sums.sum(forest, item, &marginals[0])
            symbol = forest.items[item].symbol
            for c in range(table.offsets[symbol], table.offsets[symbol + 1]):
                items[item] += (marginals[item] if table.is_repeated[c] else sums.of_label[table.labels[c]]) - cost
            if forest.items[item].row >= 0:
                items[item] += sums.of_tag[table.tag_of[symbol]]
            for e in range(forest.first_edge[item], forest.first_edge[item + 1]):
                edges[e] = items[item]
    return np.asarray(edges), np.asarray(items)


def posteriors(Forest forest, LabelTable table, const double[::1] marginals, double least):
    """Return the posteriors of the brackets and tags of a forest.

    marginals (float64, (n_items,)): of the items; what is below 0 or above 1 counts as such.
    least (float): brackets that are less likely are left out.
    RETURNS (dict of (start, end, label) to float, list of dict of tag to float): the brackets in pre-order, of those
        over the same words first what stands outside in most trees; and the tags of each word.
    """
    cdef CellSums sums = CellSums(table)
    cdef vector[double] p
    cdef vector[Bracket] likely
    cdef Bracket bracket
    cdef dict brackets = {}
    cdef list tags = [{} for _ in range(forest.n_words)]
    cdef int item, end = 0
    with nogil:
        for item in range(<int>forest.items.size()):
            p.push_back(min(marginals[item], 1) if marginals[item] >= least * SHARE else 0)
        while end < <int>forest.items.size():
            item, end = end, sums.sum(forest, end, p.data())
            sums.add_brackets(forest.items[item], least, likely)
        sort(likely.begin(), likely.end(), comes_before)
    for bracket in likely:
        brackets[bracket.start, bracket.end, table.label_names[bracket.label]] = min(bracket.p, 1.0)
    for item in range(<int>forest.items.size()):
        if forest.items[item].row >= 0 and p[item] > 0:
            of_word = tags[forest.items[item].start]
            tag = table.tag_names[table.tag_of[forest.items[item].symbol]]
            of_word[tag] = min(of_word.get(tag, 0.0) + p[item], 1.0)
    return brackets, tags


def tree_brackets(Forest forest, LabelTable table, const int32_t[::1] nodes, const double[::1] marginals):
    """Return the brackets and tags of a tree, each with its posterior, summed over all symbols that hold it.

    nodes (int32, (n_nodes,)): the items of the tree, as `best_tree` gives them.
    marginals (float64, (n_items,)): of the items.
    RETURNS (list of (start, end, label id), float64 (n_spans,), list of tag ids, float64 (n_words,)): the spans in
        pre-order and their posteriors; the tags of the words and theirs.
    """
    cdef CellSums sums = CellSums(table)
    cdef list spans = [], tags = []
    cdef vector[double] span_scores, tag_scores
    cdef Item node
    cdef int k, c, first
    for k in range(<int>nodes.shape[0]):
        node, first = forest.items[nodes[k]], nodes[k]
        while first > 0 and same_cell(forest.items[first - 1], node):
            first -= 1
        sums.sum(forest, first, &marginals[0])
        for c in range(table.offsets[node.symbol], table.offsets[node.symbol + 1]):
            spans.append((node.start, node.end, table.labels[c]))
            span_scores.push_back(sums.of_label[table.labels[c]])
        if node.row >= 0:
            tags.append(table.tag_of[node.symbol])
            tag_scores.push_back(sums.of_tag[table.tag_of[node.symbol]])
    return spans, as_array(span_scores), tags, as_array(tag_scores)


cdef class LabelTable:
    """The labels of each symbol's collapsed chain as ids; of a preterminal without its tag; none for "@" symbols.

    offsets (int32, (n_symbols + 1,)), labels (int32), is_repeated (int8): chains of labels, the upper ones first, and
        whether each also stands further up in its chain, as in NP|VP|NP.
    tag_of (int32, (n_symbols,)): tags of preterminals.
    label_names, tag_names (tuple of str).
    """

    cdef const int32_t[::1] offsets
    cdef const int32_t[::1] labels
    cdef const char[::1] is_repeated
    cdef const int32_t[::1] tag_of
    cdef readonly tuple label_names
    cdef readonly tuple tag_names

    def __init__(self, offsets, labels, is_repeated, tag_of, label_names, tag_names):
        self.offsets, self.labels, self.is_repeated, self.tag_of = offsets, labels, is_repeated, tag_of
        self.label_names, self.tag_names = label_names, tag_names


cdef struct Bracket:
    int32_t start
    int32_t end
    int32_t label
    double p
    double depth     # mean place in the chains that have it


cdef double SHARE = 0.01  # of the least probability, below which the parts of a sum are left out


cdef class CellSums:
    """Sums of the marginals of one cell at a time, by the labels and tags of its items."""

    cdef LabelTable table
    cdef vector[double] of_label   # (n_labels,); 0 for those that the cell does not have
    cdef vector[double] depth      # (n_labels,): of the marginals times the places in the chains
    cdef vector[double] of_tag     # (n_tags,)
    cdef vector[int32_t] labels    # of the cell
    cdef vector[int32_t] tags

    def __init__(self, LabelTable table):
        self.table = table
        fill(self.of_label, len(table.label_names), 0)
        fill(self.depth, len(table.label_names), 0)
        fill(self.of_tag, len(table.tag_names), 0)

    cdef int sum(self, Forest forest, int first, const double* marginals) except -1 nogil:
        """Sum the marginals (n_items,) over the cell that begins with an item; return the end of the cell."""
        cdef int item = first
        cdef int32_t number
        for number in self.labels:
            self.of_label[number] = self.depth[number] = 0
        for number in self.tags:
            self.of_tag[number] = 0
        self.labels.clear()
        self.tags.clear()
        while item < <int>forest.items.size() and same_cell(forest.items[item], forest.items[first]):
            self.add(forest.items[item], marginals[item])
            item += 1
        return item

    cdef int add(self, const Item& item, double marginal) except -1 nogil:
        cdef int c, first = self.table.offsets[item.symbol]
        cdef int32_t label, tag
        for c in range(first, self.table.offsets[item.symbol + 1]):
            label = self.table.labels[c]
            if marginal != 0 and not self.table.is_repeated[c]:
                if self.of_label[label] == 0:
                    self.labels.push_back(label)
                self.of_label[label] += marginal
                self.depth[label] += marginal * (c - first)
        if item.row >= 0:
            tag = self.table.tag_of[item.symbol]
            self.tags.push_back(tag)
            self.of_tag[tag] += marginal

    cdef int add_brackets(self, const Item& cell, double least, vector[Bracket]& brackets) except -1 nogil:
        """Add the brackets of the cell that are likely enough."""
        cdef Bracket new
        for new.label in self.labels:
            new.p = self.of_label[new.label]
            if new.p >= least:
                new.start, new.end, new.depth = cell.start, cell.end, self.depth[new.label] / new.p
                brackets.push_back(new)


cdef bint comes_before(const Bracket& x, const Bracket& y) noexcept nogil:
    if x.start != y.start:
        return x.start < y.start
    if x.end != y.end:
        return x.end > y.end
    if x.depth != y.depth:
        return x.depth < y.depth
    return x.label < y.label


cdef inline bint same_cell(const Item& x, const Item& y) noexcept nogil:
    return x.start == y.start and x.end == y.end
