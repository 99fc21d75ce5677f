"""Build the phrases that each word heads, from the inside out, and so the tree of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.phrases.levels import Level, levels
from spacy_lpcfg.trees.phrases.words import STRANDED, SUBJECTS, UNMARKED, Words
from spacy_lpcfg.trees.tree import Tree

_LABELS = {
    "VERB": "VP",
    "AUX": "VP",
    "ADJ": "ADJP",
    "ADV": "ADVP",
    "PART": "ADVP",
    "INTJ": "INTJ",
    "ADP": "PP",
    "SCONJ": "SBAR",
}
_WH_LABELS = {"NP": "WHNP", "PP": "WHPP", "ADVP": "WHADVP", "ADJP": "WHADJP"}
_FUNCTION_WORDS = frozenset(("det", "aux", "cop", "case", "mark", "cc", "clf"))
_NAMES = frozenset(("flat", "compound", "fixed", "goeswith"))
_BARE = frozenset(("nummod", "amod"))
_ARGUMENTS = frozenset(("nsubj", "obj", "iobj", "obl", "nmod", "appos"))
_QUANTIFIER_PARTS = frozenset(("advmod", "case"))
_CONNECTIVES = frozenset(("so",))
"""Adverbs that link clauses and have no phrase in the Penn Treebank."""
_ASIDES = frozenset(("parataxis", "reparandum"))


def project(words: Words, leaves: Sequence[Tree]) -> Tree:
    """Build the tree of a sentence without its punctuation.

    words (Words): The sentence, with projective dependencies.
    leaves (sequence of Tree, (n_words,)): The leaf of each word.
    RETURNS (Tree): The tree; its root is FRAG if the root of the dependencies makes no phrase.
    """
    top_down = [words.sentence.heads.index(NO_HEAD)]
    for word in top_down:  # grows while it is traversed
        top_down.extend(words.below[word])
    parts: list[list[Tree]] = [[] for _ in leaves]
    for word in reversed(top_down):
        parts[word] = Projection(words, leaves, parts, word).build()
    top = parts[top_down[0]]
    return top[0] if len(top) == 1 and not top[0].is_leaf else Tree("FRAG", top)


class Projection:
    """A builder of the phrases that one word heads.

    words (Words): The sentence.
    leaves (sequence of Tree, (n_words,)): The leaf of each word.
    parts (list of list of Tree, (n_words,)): For each descendant of the head, the subtrees that it contributes to the
        phrase of its own head: mostly one phrase, or bare leaves, or a conjunction and a phrase.
    head (int): The position of the word.
    """

    def __init__(self, words: Words, leaves: Sequence[Tree], parts: list[list[Tree]], head: int) -> None:
        self.words, self.leaves, self.parts, self.head = words, leaves, parts, head
        self.relation = words.relation(head)
        self.is_clause = words.is_clause(head)
        self.label = self._base_label()
        self.left = [child for child in reversed(words.below[head]) if child < head]
        self.right = [child for child in words.below[head] if child > head]
        self.left_levels = levels(words, head, self.left)
        self.right_levels = levels(words, head, self.right)

    def build(self) -> list[Tree]:
        """Return the subtrees that the head and its dependents contribute to the phrase above them."""
        words_only = self._words_only()
        if words_only is not None:
            return words_only
        core = self._fronted() if self._is_fronted() else self._project(Level.LINK)
        if self.head in self.words.bracketed:
            core = Tree("PRN", [core])
        left, right = self._at(Level.OUTSIDE)
        return [*self._trees(reversed(left), Level.OUTSIDE), core, *self._trees(right, Level.OUTSIDE)]

    def _words_only(self) -> list[Tree] | None:
        """Return the subtrees of a function word, part of a name or bare modifier that needs no phrase; else None."""
        if self.relation not in _FUNCTION_WORDS | _NAMES | _BARE:
            return None
        before = [tree for child in reversed(self.left) for tree in self.parts[child]]
        flat = [*before, self.leaves[self.head], *self._trees(self.right, Level.BASE)]
        if self.relation in _BARE:
            return flat if len(flat) == 1 and self.head not in self.words.bracketed else None
        if not all(tree.is_leaf for tree in flat):
            return None
        label = self._flat_label() if len(flat) > 1 else None
        return [Tree(label, flat)] if label else flat

    def _flat_label(self) -> str | None:
        """Return the label over a function word, or part of a name, and its dependents; None if they get no phrase."""
        if self.relation == "cc":
            return "CONJP"
        has_hyphen = self.relation == "compound" and self.left and self.head in self.words.after_marks
        return "ADJP" if has_hyphen else None

    def _at(self, level: Level) -> tuple[list[int], list[int]]:
        """Return the dependents that join at a level, on the left and on the right, each with the nearest first."""
        return (
            [child for child, its in zip(self.left, self.left_levels, strict=True) if its == level],
            [child for child, its in zip(self.right, self.right_levels, strict=True) if its == level],
        )

    # Levels --------------------------------------------------------------------------------------

    def _project(self, last: Level) -> Tree:
        core = self.leaves[self.head]
        for level in range(last + 1):
            core = self._extended(core, Level(level))
        return core

    def _extended(self, core: Tree, level: Level) -> Tree:
        """Add the dependents of a level to a projection: first modifiers, then, around these, conjuncts and asides."""
        left, right = self._at(level)
        n_right = next((i for i, child in enumerate(right) if self._is_coordinated_with(child, level)), len(right))
        right, coordinated = right[:n_right], right[n_right:]
        n_left = len(left)
        if level == Level.CLAUSE and self.is_clause:
            n_left = next((i for i, child in enumerate(left) if self._is_parenthetical(child)), n_left)
        outer = self._outer_copula(left) if level == Level.LINK else []
        if level == Level.VERBAL:
            core = self._verbal(core, left, right)
        elif outer:
            inner = left[: -len(outer)]
            core = self._with_outer(self._node(core, level, inner, right, is_coordinated=bool(coordinated)), outer)
            return self._coordinated(core, level, [], coordinated)
        else:
            core = self._node(core, level, left[:n_left], right, is_coordinated=bool(coordinated or left[n_left:]))
        return self._coordinated(core, level, left[n_left:], coordinated)

    def _node(self, core: Tree, level: Level, left: list[int], right: list[int], is_coordinated: bool) -> Tree:
        """Put a projection and its modifiers below a node with the label of a level, if the level needs a node."""
        label = self._label(level, bool(left or right), is_coordinated)
        if label is None:
            return core
        if level == Level.BASE and label == "NP" and self.words.part(self.head) == "PART":
            # Such as Chinese 家, a suffix that heads what it makes a noun of.
            return Tree(label, [self._joined("NX", core, left, right, level)])
        if level == Level.BASE and self._is_quantifier(left):
            return Tree(label, [self._joined("QP", core, left, right, level)])
        if level <= Level.CASE and self.words.is_wh(self.head) and not self.words.is_verb(self.head):
            if level == Level.PHRASE and any(self.words.relation(child) in ("acl", "advcl") for child in right):
                after = self._trees(right, level)
                return Tree("SBAR", [core, *chain.from_iterable(map(_below_link, after))])
            label = _WH_LABELS.get(label, label)
        return self._joined(label, core, left, right, level)

    def _joined(self, label: str, core: Tree, left: Sequence[int], right: Sequence[int], level: Level) -> Tree:
        """Put a projection, with its dependents on the left and on the right (nearest first), below a label."""
        return Tree(label, [*self._trees(reversed(left), level), core, *self._trees(right, level)])

    def _coordinated(self, core: Tree, level: Level, left: list[int], right: list[int]) -> Tree:
        """Add conjuncts to a projection, and modifiers that follow the conjuncts and belong to all of them."""
        if not (left or right):
            return core
        if level == Level.BASE and self._has_bare_conjuncts():
            return Tree(core.label, [*core.children, *self._trees(right, level)])
        return self._joined(core.label, core, left, right, level)

    def _verbal(self, core: Tree, left: list[int], right: list[int]) -> Tree:
        """Put a projection below one verb phrase for each auxiliary, copula or mark of infinitives."""
        makes_verb_phrase = self.words.makes_verb_phrase
        outer = right
        for group in _ending_in(left, makes_verb_phrase):
            inner = [] if any(map(makes_verb_phrase, outer)) else outer
            outer = outer if not inner else []
            core = self._joined("VP", core, group, inner, Level.VERBAL)
            if self.words.is_infinitive_mark(group[-1]) and group[-1] != left[-1]:
                core = Tree("S", [core])
        for group in _ending_in(outer, makes_verb_phrase):
            core = self._joined("VP", core, [], group, Level.VERBAL)
        return core

    def _outer_copula(self, left: list[int]) -> list[int]:
        """Return the copula of a predicate that is a clause, and what is left of it: "The reason is that it rained"."""
        start = next((i for i, child in enumerate(left) if self.words.relation(child) == "cop"), len(left))
        return left[start:] if start else []

    def _with_outer(self, core: Tree, outer: list[int]) -> Tree:
        """Put a clause that is a predicate below a VP with its copula, and the VP below an S with the subject."""
        n_below = next(i for i, child in enumerate([*outer, -1]) if child < 0 or self.words.relation(child) in SUBJECTS)
        verb_phrase = self._joined("VP", core, outer[:n_below], [], Level.VERBAL)
        return self._joined("S", verb_phrase, outer[n_below:], [], Level.CLAUSE)

    def _is_fronted(self) -> bool:
        """Return whether the head is an interrogative predicate before its copula or subject, as in "What is it"."""
        words, marks = self.words, ("cop", "nsubj", "csubj")
        return (
            self.is_clause
            and not words.is_verb(self.head)
            and words.is_wh(self.head)
            and any(words.relation(child) in marks for child in self.right)
            and not any(words.relation(child) in marks for child in self.left)
        )

    def _fronted(self) -> Tree:
        """Build the tree of a fronted predicate and its clause, such as (SBARQ (WHNP What) (SQ is it)).

        The clause is an SQ, or an S if the subject precedes the copula, as in (SBAR (WHNP what) (S it is)).
        """
        core = self._project(Level.CASE)
        left, right = (
            [child for child, level in zip(side, its, strict=True) if Level.CASE < level < Level.OUTSIDE]
            for side, its in ((self.left, self.left_levels), (self.right, self.right_levels))
        )
        relations = [self.words.relation(child) for child in right]
        subject = next((i for i, relation in enumerate(relations) if relation in SUBJECTS), len(right))
        copula = next((i for i, relation in enumerate(relations) if relation == "cop"), -1)
        trees = [self._trees([child], Level.VERBAL) for child in right]
        if subject < copula:
            verb_phrase = Tree("VP", chain.from_iterable(trees[copula:]))
            clause = Tree("S", [*chain.from_iterable(trees[:copula]), verb_phrase])
        else:
            clause = Tree("SQ", chain.from_iterable(trees))
        return Tree(self._link_label(), [*self._trees(reversed(left), Level.CLAUSE), core, clause])

    # Labels --------------------------------------------------------------------------------------

    def _base_label(self) -> str:
        """Return the label of the smallest phrase, which depends on the part of speech and the relation of the head."""
        words, head = self.words, self.head
        label = _LABELS.get(words.part(head), "NP")
        if words.part(head) == "PART" and self.relation != "advmod":
            return "NP"
        if self.relation == "amod" and label == "VP":
            return "ADJP"
        if label == "ADJP" and not self.is_clause and (self.relation in _ARGUMENTS or words.has(head, "det")):
            return "NP"
        return "QP" if self.relation == "nummod" and label == "NP" else label

    def _label(self, level: Level, has_new: bool, is_coordinated: bool) -> str | None:
        """Return the label of a projection up to a level; None if the level makes no phrase.

        has_new (bool): Whether there are dependents at this level, besides conjuncts.
        """
        if level == Level.BASE:
            return self.label
        if level == Level.CLAUSE and self.is_clause:
            return self._clause_label(has_new, is_coordinated)
        if level == Level.LINK and self.is_clause:
            return self._link_label() if has_new or self._has_no_link_word() else None
        if not has_new:
            return None
        return "PP" if level == Level.CASE else self.label

    def _clause_label(self, has_new: bool, is_coordinated: bool) -> str | None:
        """Return S; SQ for an inverted question; VP for a conjunct without subject; or None if there is no clause."""
        words, head = self.words, self.head
        if self.relation == "conj" and not words.has_subject(head):
            return "VP" if has_new else None
        if has_new or is_coordinated:
            return "SQ" if self._is_inverted() else "S"
        is_reduced = self.relation == "acl" and words.full_relation(head) != "acl:relcl"
        return None if is_reduced and not words.has(head, "mark", "aux", "cop") else "S"

    def _is_inverted(self) -> bool:
        """Return whether an auxiliary or copula comes before the subject of a question."""
        if not self.words.is_question:
            return False
        outside_in = [child for child, level in zip(self.left, self.left_levels, strict=True) if level == Level.CLAUSE]
        for child in reversed(outside_in):
            if self.words.relation(child) in SUBJECTS:
                return False
            if self.words.makes_verb_phrase(child):
                return True
        return False

    def _link_label(self) -> str:
        words, head = self.words, self.head
        if words.tag(head) == "VBG" and not words.has_subject(head):
            return "PP"
        return "SBARQ" if self.relation == "root" and not words.has(head, "mark") else "SBAR"

    def _has_no_link_word(self) -> bool:
        """Return whether a clause is subordinate without a conjunction or relative word, as in "the day we met"."""
        words, head = self.words, self.head
        if words.full_relation(head) == "acl:relcl":
            return True
        if self.relation == "acl":
            return any(map(words.is_infinitive_mark, words.below[head]))
        return self.relation == "ccomp" and head > words.sentence.heads[head] and words.has_subject(head)

    # Dependents ----------------------------------------------------------------------------------

    def _is_coordinated_with(self, child: int, level: Level) -> bool:
        """Return whether a dependent on the right is coordinated with the projection before it."""
        is_aside = level == Level.CLAUSE and self.is_clause and self._is_parenthetical(child)
        return self.words.relation(child) == "conj" or is_aside

    def _has_bare_conjuncts(self) -> bool:
        """Return whether conjuncts stand beside the head without phrases of their own: "read and write letters"."""
        left, right = self._at(Level.BASE)
        conjuncts = [child for child in right if self.words.relation(child) == "conj"]
        is_first = right[:1] == conjuncts[:1] and all(self.words.relation(child) == "cc" for child in left)
        return not self.is_clause or (is_first and all(map(self.words.is_bare_conjunct, conjuncts)))

    def _is_parenthetical(self, child: int) -> bool:
        return self.words.relation(child) in _ASIDES and self.words.has_subject(child)

    def _is_quantifier(self, left: Sequence[int]) -> bool:
        """Return whether the head is a number with a modifier, such as "about", before it."""
        is_modified = any(self.words.relation(child) in _QUANTIFIER_PARTS for child in left)
        return is_modified and self.label == "NP" and self.words.part(self.head) == "NUM"

    def _trees(self, children: Iterable[int], level: Level) -> list[Tree]:
        """Return the subtrees of dependents at a level; an object and a predicate after it make a small clause."""
        trees: list[Tree] = []
        last = ""
        for child in children:
            below, relation = self._in_place(child, level), self.words.relation(child)
            if relation == "xcomp" and last == "obj" and child > self.head:
                trees[-1:] = [_small_clause(trees[-1], below)]
            else:
                trees += below
            last = relation
        return trees

    def _in_place(self, child: int, level: Level) -> list[Tree]:
        """Return the subtrees of a dependent at a level: its phrase, or bare words where there is to be no phrase."""
        words, relation = self.words, self.words.relation(child)
        leaf, parts = self.leaves[child], self.parts[child]
        if relation == "conj" and level == Level.BASE and self._has_bare_conjuncts() and words.is_bare_conjunct(child):
            return [*parts[:-1], leaf]
        if level == Level.BASE and (words.is_name(child) or words.is_end_of_range(child, self.head)):
            return [leaf for part in parts for leaf in part.leaves()]
        if relation == "fixed" and words.part(child) == "NOUN" and self.relation == "advmod":
            return [Tree("NP", [leaf])]  # as in "of course"
        is_noun = relation in _NAMES and words.part(child) == "NOUN" and self.label == "NP"
        is_verb = relation in _NAMES and words.part(child) == "VERB" and self.label == "VP"
        if all(part.is_leaf for part in parts):
            if is_noun and child > self.head:
                return [Tree("NP", parts)]  # so that the head is the last noun that stands without a phrase
            if is_verb and child < self.head:
                return [Tree("VP", parts)]  # so that the head is the first verb that stands without a phrase
            if relation == "amod" and level == Level.PHRASE:
                return [Tree("ADJP", parts)]  # so that the head is the noun's phrase
        if words.below[child] or child in words.bracketed:
            return parts
        if words.full_relation(child) == "compound:prt":
            return [Tree("PRT", [leaf]) if self.is_clause and words.is_verb(self.head) else leaf]
        if words.full_relation(child) == STRANDED:
            return [Tree("PP", [leaf])]
        return [leaf] if self._is_word(child, relation, level) else parts

    def _is_word(self, child: int, relation: str, level: Level) -> bool:
        """Return whether a dependent without dependents stands without a phrase of its own."""
        words = self.words
        if relation == "dep":
            return child < self.head and words.part(child) == "PRON"
        if relation == "advmod":
            is_degree = level <= Level.CASE and not words.is_verb(self.head)
            is_connective = level >= Level.CLAUSE and words.sentence.words[child].lower() in _CONNECTIVES
            is_before = child < self.head or self.label != "NP"
            return is_connective or words.part(child) == "PART" or (is_degree and is_before)
        if words.full_relation(child) == "nmod:poss":
            return words.part(child) in ("PRON", "DET")
        has_number = "NUM" in (words.part(child), words.part(self.head))
        is_unmarked = words.full_relation(child) in UNMARKED and (child < self.head or has_number)
        return is_unmarked or (words.part(child) == "INTJ" and self.label == "INTJ")


def _small_clause(subject: Tree, predicate: Sequence[Tree]) -> Tree:
    """Return the small clause (S) of an object and its predicate, as in "let him go"."""
    first = predicate[0]
    return Tree("S", [subject, *(first.children if first.label == "S" else [first]), *predicate[1:]])


def _below_link(tree: Tree) -> tuple[Tree, ...]:
    """Return the children of an SBAR that has only one child; return any other tree itself, as a tuple."""
    return tree.children if tree.label == "SBAR" and len(tree.children) == 1 else (tree,)


def _ending_in(children: Sequence[int], is_last: Callable[[int], bool]) -> Iterator[list[int]]:
    """Cut children into groups that end in a child for which `is_last` holds; the last group may end otherwise."""
    group: list[int] = []
    for child in children:
        group.append(child)
        if is_last(child):
            yield group
            group = []
    if group:
        yield group
