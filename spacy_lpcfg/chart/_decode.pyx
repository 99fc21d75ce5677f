"""The best tree of a forest by any scores of its edges (Goodman 1996), and its brackets with their posteriors.

Posteriors of brackets and tags are sums over the symbols of a cell. A symbol counts once for a label that stands twice
in its chain, as in NP|VP|NP.
"""

import numpy as np

from cython.operator cimport dereference
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from spacy_lpcfg.chart._forest cimport Edge, Forest, Item, as_array


def best_tree(Forest forest, const double[::1] edge_scores, const double[::1] item_scores):
    """The items of the tree that maximises the sum of the scores of its edges and leaves.

    edge_scores (float64, (n_edges,)), item_scores (float64, (n_items,)): of the latter only leaves are read.
    RETURNS (int32, (n_nodes,)): items in pre-order; empty if the forest holds no tree.
    """
    cdef vector[double] best
    cdef vector[int32_t] choice, stack, nodes
    cdef int item, e, root = -1, k
    cdef double score
    cdef Edge edge
    with nogil:
        best.assign(forest.items.size(), -INFINITY)
        choice.assign(forest.items.size(), -1)
        for item in range(<int>forest.items.size()):
            if forest.items[item].row >= 0:
                best[item] = item_scores[item]
            for e in range(forest.first_edge[item], forest.first_edge[item + 1]):
                edge = forest.edges[e]
                score = edge_scores[e] + best[edge.left] + best[edge.right]
                if score > best[item]:
                    best[item] = score
                    choice[item] = e
        for k in range(<int>forest.roots.size()):
            item = forest.roots[k]
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


def bracket_scores(Forest forest, LabelTable table, const double[::1] marginals, double cost):
    """Scores by which `best_tree` finds the tree of least expected loss: the right brackets and tags to be hoped for.

    marginals (float64, (n_items,)): of the items.
    cost (float): of a bracket, taken from its posterior.
    RETURNS (float64 (n_edges,), float64 (n_items,)): the summed scores of the brackets of an edge's target, and of
        those of each item, with its tag's posterior if it is a leaf. A label's second bracket over the same words
        counts as likely as the item.
    """
    cdef double[::1] edges = np.empty(forest.edges.size()), items = np.zeros(forest.items.size())
    cdef CellPosteriors posteriors = CellPosteriors(table)
    cdef int item, first = 0, c, e, symbol
    with nogil:
        for item in range(<int>forest.items.size()):
            if item == 0 or not same_cell(forest.items[item], forest.items[first]):
                first = item
                posteriors.sum(forest, table, first, marginals)
            symbol = forest.items[item].symbol
            for c in range(table.offsets[symbol], table.offsets[symbol + 1]):
                if table.is_repeated(symbol, c):
                    items[item] += marginals[item] - cost
                else:
                    items[item] += posteriors.of_label[table.labels[c]] - cost
            if forest.items[item].row >= 0:
                items[item] += posteriors.of_tag[table.tag_of[symbol]]
            for e in range(forest.first_edge[item], forest.first_edge[item + 1]):
                edges[e] = items[item]
    return np.asarray(edges), np.asarray(items)


def posteriors(Forest forest, LabelTable table, const double[::1] marginals, double least):
    """Posteriors of the brackets and tags of a forest.

    marginals (float64, (n_items,)): of the items; what is below 0 or above 1 counts as such.
    least (float): brackets that are less likely are left out.
    RETURNS (dict of (start, end, label) to float, list of dict of tag to float): the brackets in pre-order, of those
        over the same words first what stands outside in most trees; and the tags of each word.
    """
    cdef BracketSums sums = BracketSums(table)
    cdef Bracket each
    cdef dict brackets = {}
    cdef list tags = [{} for _ in range(forest.n_words)]
    cdef int item
    cdef double p
    with nogil:
        sums.sum(forest, marginals, least)
    for each in sums.brackets:
        brackets[each.start, each.end, table.label_names[each.label]] = min(each.p, 1.0)
    for item in range(<int>forest.items.size()):
        p = as_probability(marginals[item])
        if forest.items[item].row >= 0 and p >= least * SHARE:
            of_word = tags[forest.items[item].start]
            tag = table.tag_names[table.tag_of[forest.items[item].symbol]]
            of_word[tag] = min(of_word.get(tag, 0.0) + p, 1.0)
    return brackets, tags


cdef double SHARE = 0.01  # of the least probability, below which the parts of a sum are left out


cdef struct Bracket:
    int32_t start
    int32_t end
    int32_t label
    double p
    double depth     # mean place in the chains that have it


cdef class BracketSums:
    """Probabilities of all brackets of a forest, cell after cell."""

    cdef LabelTable table
    cdef vector[Bracket] brackets
    cdef vector[double] p          # (n_labels,): of the cell at hand
    cdef vector[double] depth
    cdef vector[int32_t] found     # its labels

    def __init__(self, LabelTable table):
        self.table = table
        self.p.assign(len(table.label_names), 0)
        self.depth.assign(len(table.label_names), 0)

    cdef void sum(self, Forest forest, const double[::1] marginals, double least) noexcept nogil:
        cdef int item, n = <int>forest.items.size()
        cdef double p
        for item in range(n):
            p = as_probability(marginals[item])
            if p >= least * SHARE:
                self.add(forest.items[item].symbol, p)
            if item + 1 == n or not same_cell(forest.items[item], forest.items[item + 1]):
                self.keep(forest.items[item], least)
        sort(self.brackets.begin(), self.brackets.end(), comes_before)

    cdef void add(self, int symbol, double p) noexcept nogil:
        """Add an item's probability to those of its labels."""
        cdef int c, label
        for c in range(self.table.offsets[symbol], self.table.offsets[symbol + 1]):
            label = self.table.labels[c]
            if not self.table.is_repeated(symbol, c):
                if self.p[label] == 0:
                    self.found.push_back(label)
                self.p[label] += p
                self.depth[label] += p * (c - self.table.offsets[symbol])

    cdef void keep(self, const Item& cell, double least) noexcept nogil:
        """Note the brackets of a cell, and empty it."""
        cdef int label
        cdef Bracket new
        for label in self.found:
            if self.p[label] >= least:
                new.start, new.end, new.label = cell.start, cell.end, label
                new.p, new.depth = self.p[label], self.depth[label] / self.p[label]
                self.brackets.push_back(new)
            self.p[label] = self.depth[label] = 0
        self.found.clear()


cdef bint comes_before(const Bracket& x, const Bracket& y) noexcept nogil:
    if x.start != y.start:
        return x.start < y.start
    if x.end != y.end:
        return x.end > y.end
    if x.depth != y.depth:
        return x.depth < y.depth
    return x.label < y.label


cdef inline double as_probability(double p) noexcept nogil:
    return 0 if p < 0 else 1 if p > 1 else p


def expected_scores(Forest forest, LabelTable table, const int32_t[:, ::1] brackets, const double[::1] p,
                    const double[:, ::1] of_tags, double cost):
    """As `bracket_scores`, by probabilities from any source.

    brackets (int32, (n, 3)): start, end and label of those that have a probability; p (float64, (n,)): of each.
    of_tags (float64, (n_words, n_tags)): probabilities of the tags of the words.
    """
    cdef double[::1] edges = np.empty(forest.edges.size()), items = np.zeros(forest.items.size())
    cdef unordered_map[uint64_t, double] of_bracket
    cdef unordered_map[uint64_t, double].iterator found
    cdef uint64_t cell, n_labels = len(table.label_names)
    cdef Item node
    cdef int item, c, e, k
    with nogil:
        for k in range(<int>p.shape[0]):
            of_bracket[cell_key(brackets[k, 0], brackets[k, 1], forest.n_words) * n_labels + brackets[k, 2]] = p[k]
        for item in range(<int>forest.items.size()):
            node = forest.items[item]
            cell = cell_key(node.start, node.end, forest.n_words) * n_labels
            for c in range(table.offsets[node.symbol], table.offsets[node.symbol + 1]):
                found = of_bracket.find(cell + table.labels[c])
                items[item] += (dereference(found).second if found != of_bracket.end() else 0) - cost
            if node.row >= 0:
                items[item] += of_tags[node.start, table.tag_of[node.symbol]]
            for e in range(forest.first_edge[item], forest.first_edge[item + 1]):
                edges[e] = items[item]
    return np.asarray(edges), np.asarray(items)


cdef inline uint64_t cell_key(int start, int end, int n_words) noexcept nogil:
    return <uint64_t>start * (n_words + 1) + end


cdef class LabelTable:
    """The labels of each symbol's collapsed chain as ids; of a preterminal without its tag; none for "@" symbols."""

    cdef const int32_t[::1] offsets
    cdef const int32_t[::1] labels
    cdef const int32_t[::1] tag_of
    cdef readonly tuple label_names
    cdef readonly tuple tag_names

    def __init__(self, offsets, labels, tag_of, label_names, tag_names):
        self.offsets = offsets
        self.labels = labels
        self.tag_of = tag_of
        self.label_names = label_names
        self.tag_names = tag_names

    cdef bint is_repeated(self, int symbol, int c) noexcept nogil:
        """Whether the label at place c of a symbol's chain stands further up in it, as in NP|VP|NP."""
        cdef int above
        for above in range(self.offsets[symbol], c):
            if self.labels[above] == self.labels[c]:
                return True
        return False


cdef class CellPosteriors:
    """Posteriors of the labels and tags of one cell at a time; of those that no item there has, of another cell."""

    cdef vector[double] of_label
    cdef vector[double] of_tag

    def __init__(self, LabelTable table):
        self.of_label.assign(len(table.label_names), 0)
        self.of_tag.assign(len(table.tag_names), 0)

    cdef void sum(self, Forest forest, LabelTable table, int first, const double[::1] marginals) noexcept nogil:
        """Sum the marginals (n_items,) over the cell that begins with an item."""
        cdef int item, symbol, c, last = first
        while last < <int>forest.items.size() and same_cell(forest.items[last], forest.items[first]):
            symbol = forest.items[last].symbol
            for c in range(table.offsets[symbol], table.offsets[symbol + 1]):
                self.of_label[table.labels[c]] = 0
            if forest.items[last].row >= 0:
                self.of_tag[table.tag_of[symbol]] = 0
            last += 1
        for item in range(first, last):
            symbol = forest.items[item].symbol
            for c in range(table.offsets[symbol], table.offsets[symbol + 1]):
                if not table.is_repeated(symbol, c):
                    self.of_label[table.labels[c]] += marginals[item]
            if forest.items[item].row >= 0:
                self.of_tag[table.tag_of[symbol]] += marginals[item]


cdef class TreeBrackets:
    """The brackets and tags of a tree, each with its posterior, summed over all symbols that hold it."""

    cdef vector[int32_t] starts
    cdef vector[int32_t] ends
    cdef vector[int32_t] labels
    cdef vector[double] scores_
    cdef vector[int32_t] tags_
    cdef vector[double] tag_scores_

    def __init__(self, Forest forest, LabelTable table, const int32_t[::1] nodes, const double[::1] marginals):
        """forest, nodes: a tree as `best_tree` gives it; marginals (float64, (n_items,)): of the items."""
        cdef CellPosteriors posteriors = CellPosteriors(table)
        cdef int k
        with nogil:
            for k in range(<int>nodes.shape[0]):
                self.add(forest, table, nodes[k], marginals, posteriors)

    cdef void add(self, Forest forest, LabelTable table, int item, const double[::1] marginals,
                  CellPosteriors posteriors) noexcept nogil:
        cdef Item node = forest.items[item]
        cdef int first = item, c, tag
        while first > 0 and same_cell(forest.items[first - 1], node):
            first -= 1
        posteriors.sum(forest, table, first, marginals)
        for c in range(table.offsets[node.symbol], table.offsets[node.symbol + 1]):
            self.starts.push_back(node.start)
            self.ends.push_back(node.end)
            self.labels.push_back(table.labels[c])
            self.scores_.push_back(posteriors.of_label[table.labels[c]])
        if node.row >= 0:
            tag = table.tag_of[node.symbol]
            self.tags_.push_back(tag)
            self.tag_scores_.push_back(posteriors.of_tag[tag])

    def spans(self):
        """Pre-order (start, end, label id), list of n_spans tuples."""
        cdef size_t k
        return [(self.starts[k], self.ends[k], self.labels[k]) for k in range(self.starts.size())]

    def span_scores(self):
        """Posteriors of the spans, float64 (n_spans,)."""
        return as_array(self.scores_)

    def tags(self):
        """Tag id of every word, list of n_words."""
        return list(self.tags_)

    def tag_scores(self):
        """Posteriors of the tags, float64 (n_words,)."""
        return as_array(self.tag_scores_)


cdef inline bint same_cell(const Item& x, const Item& y) noexcept nogil:
    return x.start == y.start and x.end == y.end
