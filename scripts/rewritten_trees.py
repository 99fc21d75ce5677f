"""Rewrite trees as constructions that a treebank has too rarely for a model to learn them.

    python scripts/rewritten_trees.py OUTPUT TREES... [--most N] [--seed S]

Reads files of bracketed trees in the style of the Penn Treebank, makes new trees of their parts, at most N (200)
of each construction below, and writes them to OUTPUT, a tree a line:

    quoted     "It works," said the plumber.         SINV over the quotation
    spoken     "Where is it?" he asked.              S or SINV over a whole sentence; also "Where is it?"
    parted     "It works," she said, "if you wait."  PRN over who speaks; also It works, I think, if you wait.
    tagged     It works, does n't it?                SQ over sentence and question
    had        Had we known, it would work.          SBAR over SINV
    so         So do we.                             SINV
    placed     In the corner stood a clock.          SINV
    headline   Police Find Lost Clock                without articles and forms of be
    listed     They came by car, by bus or on foot.  three phrases of one kind
    related    The dog that bit him was found.       SBAR with a subject of its own
    asked      Which train leaves first?             SBARQ whose question word is the subject
    told       Turn left at the corner.              sentences without a subject
    short      The clock stopped.                    subjects and verbs alone
    what       What a clock!                         FRAG
    small      They painted the clock green.         VP over verb and S of subject and predicate
    joined     The clock stopped, we left.           S over two sentences
    gapped     He wound the clock and she the watch. S over two phrases, without a verb
    more       The more it rains, the less we walk.  SBAR over X and S, and X before a sentence
    believed   Who do you think will come?           SBAR below the verb of a question for the subject
    by_then    By the time we left, it was closed.   NP over "the time" and SBAR
    facts      The fact that it rains is no excuse.  NP over a noun and the SBAR that tells it
    done       We had the clock repaired.            VP over verb and S of noun phrase and participle
    seen       We watched the clock stop.            VP over verb and S of noun phrase and infinitive
    left_out   It should work, but it doesn't.       S whose VP has no more than an auxiliary
    verbed     Water the plants.                     verbs that are mostly nouns
    pressed    Press Save to keep the changes.       VP over verb, name of a button, and purpose
    often      Clean it twice a week.                ADVP or NP over how often, and NP
    doubled    Prices more than doubled.             VP over ADVP and verb
    never      Never before had we laughed so much.  SINV
    timed      It rained two days before we left.    SBAR over NP, "before" and S
    shared     We wash, peel and cut the carrots.    VP over several verbs and what belongs to all

A sentence need not make sense: it teaches the shapes of trees, and its words stay beside the tags that they had.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy_lpcfg.trees import Tree, clean, read_trees, write_trees


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPEAKING = words("added asked called cried explained insisted muttered replied said shouted told whispered")
THINKING = ("I think", "I suppose", "it seems", "you know", "she thought", "he said", "they say", "it turned out")
STRAIGHT = ('`` "', "'' \"")
QUOTES = (STRAIGHT, STRAIGHT, STRAIGHT, ("`` ``", "'' ''"), ("`` “", "'' ”"), ("`` ‘", "'' ’"))
SAYING = ("said", "said", "asked", "cried", "explained", "muttered", "replied", "shouted", "whispered", "added")
JOINING = ("CC and", "CC and", "CC but", "CC so")
PRESENT_SAYING = ("Says", "Say", "Insists", "Warns", "Claims")
LENGTHS = range(3, 22)
ARTICLES = words("a an the")
FINITE = words("VBD VBZ VBP")
FINITE_PRESENT = words("VBZ VBP MD")
AUXILIARIES = words("is are was were has have had do does did 's 're 've can could will would should must")
CONTRACTED = words("is are was were has have had do does did could would should")
FULL_FORMS = {"'s": "is", "'re": "are", "'ve": "have"}
BE = words("is are was were")
PRONOUNS = words("he she it we you they")
OBJECTS = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
NOUNS = words("NN NNS NNP NNPS")
MAKING = {
    "ADJP": ("made make", "made make", "found find", "kept keep", "left leave", "painted paint", "considered consider"),
    "NP": ("named name", "called call", "made make", "elected elect", "appointed appoint", "considered consider"),
}
GREATER = (
    *("JJR bigger", "JJR higher", "JJR smaller", "JJR older", "JJR better", "JJR longer", "JJR lower"),
    "JJR warmer",
)
RATHER = ("RBR more", "RBR more", "RBR less", "RBR longer", "RBR better", "RBR faster", "RBR harder")
BELIEVING = ("VB think", "VB think", "VB say", "VB believe", "VB suppose", "VB expect", "VB hope")
TELLING = ("NN fact", "NN fact", "NN idea", "NN claim", "NN news", "NN thought", "NN feeling", "NN hope")
PERCEIVING = ("saw see", "watched watch", "heard hear", "felt feel", "made make", "let let", "helped help", "had have")
VERBED = words(
    "water book dust oil hand iron plant butter salt paint glue hammer nail tape mop rake trim file email text "
    "phone ship fund schedule date label map heat season flour grease sugar pepper skin peel core slice dice head "
    "table chair bottle can box bag peg pin clip lock bolt saw drill sand brush comb soap towel button zip park "
    "toast grill match paste fax fan milk fence shell bank stamp weed place rent ring chain wire film photo host "
    "staff board"
)
BUTTONS = (
    *("NN Save", "NN OK", "NN Enter", "NN Cancel", "NN Send", "NNS Settings", "NN Help", "NN Open", "NN Print"),
    "NN Start",
)
PRESSING = ("VB Click", "VB Press", "VB Select", "VB Choose", "VB Tap")
TIMES = ("RB once", "RB twice", "CD three", "CD four", "JJ several", "JJ many")
PERIODS = ("NN day", "NN week", "NN month", "NN year", "NN night", "NN hour")
DURATIONS = (
    *("CD two,NNS days", "CD three,NNS weeks", "DT a,NN year", "DT an,NN hour", "CD ten,NNS minutes"),
    *("RB long,", "RB shortly,"),
)
DOUBLING = words("doubled tripled quadrupled halved")
OFFSETTING = words("covered offset matched filled replaced paid met achieved doubled")
NEVER = (
    *("RB Never,RB before", "RB Never", "RB Rarely", "RB Seldom", "RB Nowhere", "RB Never,RB again"),
    "RB Hardly,RB ever",
)
STANDING = words("is are was were stands stood lies lay sat hung lived came hangs sits comes lives")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    arguments.add_argument("--most", type=int, default=200, metavar="N")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    trees = [tree for path in args.trees for tree in map(clean, read_trees(path)) if tree is not None]
    rewritten = rewrite(trees, args.most, random.Random(args.seed))
    write_trees(args.output, (Tree("ROOT", (tree,)) for of_one in rewritten.values() for tree in of_one))
    print(", ".join(f"{len(of_one):,} {name}" for name, of_one in rewritten.items()))


class Stock(NamedTuple):
    """Plain sentences, the subjects of verbs of speaking in them, and sentences of any kind that somebody may say."""

    sentences: list[Tree]
    speakers: list[Tree]
    said: list[Tree]


def rewrite(trees: Iterable[Tree], most: int, rng: random.Random) -> dict[str, list[Tree]]:
    """Return up to `most` new trees of each construction, by its name."""
    trees = [tree for tree in trees if len(tree.words) in LENGTHS and not is_quoted(tree)]
    sentences = [tree for tree in trees if tree.label == "S" and is_plain(tree)]
    said = [tree for tree in trees if tree.children and tree.children[-1].label == "."]
    rng.shuffle(sentences)
    speakers = [subject for subject, verb in map(parts, sentences) if verb.children[0].word in SPEAKING]
    stock = Stock(sentences, speakers or [pronoun("she")], said)
    rewritten: dict[str, list[Tree]] = defaultdict(list)
    for name, construct in CONSTRUCTIONS.items():
        for sentence in sentences:
            if len(rewritten[name]) == most:
                break
            tree = construct(sentence, rng, stock)
            if tree is not None:
                rewritten[name].append(tree)
    return dict(rewritten)


# The parts of a sentence -------------------------------------------------------------------------


def is_plain(tree: Tree) -> bool:
    """Return whether a sentence has one subject, one verb phrase with a finite verb first, and at most a full stop."""
    labels = [child.label for child in tree.children]
    if labels.count("NP") != 1 or labels.count("VP") != 1 or labels.index("NP") > labels.index("VP"):
        return False
    verb = parts(tree)[1].children[0]
    marks = {child.label for child in tree.children if child.is_leaf} - {".", ","}
    return verb.label in FINITE | {"MD"} and not marks and not {"?", "!"} & set(tree.words)


def is_main(verb: Tree) -> bool:
    """Return whether a verb is finite, in lower case, and none that may be an auxiliary."""
    word = verb.word or ""
    return verb.label in FINITE and word.islower() and word[0] not in "'’" and word not in AUXILIARIES | {"am"}


def is_quoted(tree: Tree) -> bool:
    return any(word in "\"''``“”‘’" for word in tree.words)


def parts(tree: Tree) -> tuple[Tree, Tree]:
    """Return subject and verb phrase of a plain sentence."""
    return tuple(next(child for child in tree.children if child.label == label) for label in ("NP", "VP"))  # type: ignore[return-value]


def without_end(tree: Tree) -> tuple[Tree, ...]:
    """Return the children of a sentence but for its full stop."""
    return tree.children[:-1] if tree.children[-1].label == "." else tree.children


def leaf(text: str) -> Tree:
    """Return a leaf from tag and word, "NN clock"."""
    tag, word = text.split(" ")
    return Tree(tag, word=word)


def pronoun(word: str) -> Tree:
    return Tree("NP", (Tree("PRP", word=word),))


def respelled(tree: Tree, spell: Callable[[str, str, bool], str]) -> Tree:
    """Return a tree with other words: spell(word, tag, whether it is the first)."""
    first = iter([True])
    return tree.fold(
        lambda node, children: (
            Tree(node.label, children)
            if children
            else Tree(node.label, word=spell(node.word or "", node.label, next(first, False)))
        )
    )


def capitalized(tree: Tree) -> Tree:
    return respelled(tree, lambda word, _, first: word[:1].upper() + word[1:] if first else word)


def lowered(tree: Tree) -> Tree:
    """Return a tree whose first word begins in lower case, unless it is a name or "I"."""
    return respelled(
        tree,
        lambda word, tag, first: word[:1].lower() + word[1:] if first and tag[:3] != "NNP" and word != "I" else word,
    )


COMMA, STOP, QUESTION = leaf(", ,"), leaf(". ."), leaf(". ?")


# Constructions: each returns a new tree, or None if the sentence does not suit -------------------

Construct = Callable[[Tree, random.Random, Stock], "Tree | None"]


def quoted(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    speaker = lowered(rng.choice(stock.speakers))
    if speaker.children[0].label == "PRP":
        return None
    start, end = map(leaf, rng.choice(QUOTES))
    verb = Tree("VP", (Tree("VBD", word=rng.choice(SAYING)),))
    return Tree("SINV", (start, Tree("S", without_end(sentence)), COMMA, end, verb, speaker, STOP))


def spoken(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Quote a sentence of any kind, alone or with the one who says it."""
    said = rng.choice(stock.said)
    start, end = map(leaf, rng.choice(QUOTES))
    if rng.random() < 0.4:
        return Tree(said.label, (start, *said.children, end))
    is_question = said.children[-1].word == "?"
    quote = (said,) if said.children[-1].word in "?!" else (Tree(said.label, without_end(said)), COMMA)
    speaker = lowered(rng.choice(stock.speakers))
    verb = Tree("VP", (Tree("VBD", word="asked" if is_question else rng.choice(SAYING)),))
    if speaker.children[0].label == "PRP" or rng.random() < 0.5:
        return Tree("S", (start, *quote, end, speaker, verb, STOP))
    return Tree("SINV", (start, *quote, end, verb, speaker, STOP))


def parted(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Part a sentence before or within its verb phrase, or join another sentence to it."""
    has_quotes = rng.random() < 0.7
    start, end = map(leaf, rng.choice(QUOTES))
    before, after = ((COMMA, end), (COMMA, start)) if has_quotes else ((COMMA,), (COMMA,))
    between = Tree("PRN", (*before, _speech(rng, stock) if has_quotes else _thought(rng), *after))
    if rng.random() < 0.3:
        other = lowered(Tree("S", without_end(rng.choice(stock.sentences))))
        whole: tuple[Tree, ...] = (Tree("S", without_end(sentence)), between, leaf(rng.choice(JOINING)), other)
    else:
        whole = _with(between, without_end(sentence), rng)
    return Tree("S", (start, *whole, STOP, end) if has_quotes else (*whole, STOP))


def _with(between: Tree, children: tuple[Tree, ...], rng: random.Random) -> tuple[Tree, ...]:
    """Put a phrase before the last child of the verb phrase, if that may be moved; else before the verb phrase."""
    place = [child.label for child in children].index("VP")
    verbs = children[place].children
    if verbs[-1].label in {"PP", "SBAR", "ADVP"} and rng.random() < 0.7:
        return *children[:place], Tree("VP", (*verbs[:-1], between, verbs[-1])), *children[place + 1 :]
    return *children[:place], between, *children[place:]


def _speech(rng: random.Random, stock: Stock) -> Tree:
    """Return "she said", or "said the plumber"."""
    verb = Tree("VP", (Tree("VBD", word=rng.choice(SAYING)),))
    speaker = lowered(rng.choice(stock.speakers))
    if speaker.children[0].label == "PRP" or rng.random() < 0.5:
        return Tree("S", (speaker, verb))
    return Tree("SINV", (verb, speaker))


def _thought(rng: random.Random) -> Tree:
    who, verb, *particle = rng.choice(THINKING).split()
    tag = "VBZ" if verb == "seems" else "VBD" if verb in {"thought", "said", "turned"} else "VBP"
    particles = [Tree("PRT", (Tree("RP", word=word),)) for word in particle]
    return Tree("S", (pronoun(who), Tree("VP", (Tree(tag, word=verb), *particles))))


def tagged(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = parts(sentence)
    word = subject.words[-1].lower()
    verb = verbs.children[0]
    if len(subject.words) != 1 or word not in PRONOUNS:
        return None
    is_negative = any(other in {"not", "n't", "never"} for other in sentence.words)
    auxiliary = FULL_FORMS.get(verb.word or "", verb.word or "")
    if auxiliary not in AUXILIARIES:
        auxiliary = {"VBD": "did", "VBZ": "does", "VBP": "do"}.get(verb.label, "")
    if not auxiliary or (not is_negative and auxiliary not in CONTRACTED):
        return None
    negation = () if is_negative else (Tree("RB", word="n't"),)
    question = Tree("SQ", (Tree(verb.label, word=auxiliary), *negation, pronoun(word)))
    return Tree("SQ", (Tree("S", without_end(sentence)), COMMA, question, QUESTION))


def had(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put the verb of a sentence before its subject, and "would" after that of the main clause."""
    subject, verbs = parts(sentence)
    verb, *others = verbs.children
    if verb.word not in {"had", "were", "should"} or not others or len(sentence.words) > 12:
        return None
    if others[0].label == "RB" or (verb.word == "had" and others[-1].label != "VP"):
        return None
    condition = Tree("SINV", (Tree(verb.label, word=(verb.word or "").capitalize()), lowered(subject), *others))
    would = Tree("MD", word=rng.choice(["would", "would", "could", "might"]))
    have = Tree(
        "VP",
        (leaf("VB have"), Tree("VP", (leaf(rng.choice(["VBN stayed", "VBN left", "VBN changed", "VBN waited"])),))),
    )
    who = pronoun(rng.choice(["I", "we", "she", "he", "they", "it"]))
    return Tree("S", (Tree("SBAR", (condition,)), COMMA, who, Tree("VP", (would, have)), STOP))


def so(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    verb = parts(sentence)[1].children[0]
    word = FULL_FORMS.get(verb.word or "", verb.word)
    subject = lowered(parts(sentence)[0])
    if word not in AUXILIARIES or len(subject.words) > 2:
        return None
    first = Tree("ADVP", (Tree("RB", word=rng.choice(["So", "So", "Neither"])),))
    return Tree("SINV", (first, Tree("VP", (Tree(verb.label, word=word),)), subject, STOP))


def placed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = parts(sentence)
    if subject.children[0].label in {"PRP", "EX", "DT"} and len(subject.children) == 1:
        return None
    labels = [child.label for child in verbs.children]
    if labels[1:] not in (["PP"], ["ADJP"], ["VP"]) or verbs.children[0].word not in STANDING:
        return None
    if labels[1] != "PP" and (verbs.children[0].word not in BE or rng.random() < 0.8):
        return None
    if len(verbs.words) > 8:
        return None
    first, verb = capitalized(verbs.children[1]), Tree("VP", (verbs.children[0],))
    return Tree("SINV", (first, verb, lowered(subject), STOP))


def headline(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Leave out articles and full stop, and forms of "be" before a participle; capitalize words."""
    subject, verbs = parts(sentence)
    is_passive = verbs.children[0].word in BE and verbs.children[-1].label == "VP"
    may_stand = verbs.children[0].word in {"will", "can"} or verbs.children[0].word not in AUXILIARIES
    is_present = verbs.children[0].label in FINITE_PRESENT and may_stand
    if not (is_passive or is_present) or (subject.children[0].label in {"PRP", "EX", "DT"} and len(subject.words) == 1):
        return None
    verb_phrase = verbs.children[-1] if is_passive else verbs
    if rng.random() < 0.3:
        clause = Tree(
            "S", another(stock, rng, lambda who, other: other.tags[0] in FINITE_PRESENT and len(other.words) < 6)
        )
        as_clause = Tree("SBAR", (leaf("IN as"), lowered(clause)))
        verb_phrase = Tree("VP", (*verb_phrase.children, as_clause))
    pruned = _without_articles(Tree("S", (subject, verb_phrase)))
    if pruned is None or [child.label for child in pruned.children] != ["NP", "VP"]:
        return None
    titled = respelled(pruned, lambda word, tag, _: word if tag in {"IN", "CC", "TO"} else word[:1].upper() + word[1:])
    if rng.random() < 0.8:
        return capitalized(titled)
    who = Tree("NP", (leaf(rng.choice(["NN Minister", "NN Study", "NNS Police", "NN Report", "NNS Experts"])),))
    tag = "VBP" if who.words[0][-1] == "s" or who.words[0] == "Police" else "VBZ"
    says = Tree("VP", (Tree(tag, word=rng.choice(PRESENT_SAYING)),))
    return Tree("S", (capitalized(titled), COMMA, who, says))


def _without_articles(tree: Tree) -> Tree | None:
    def pruned(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return None if (node.word or "").lower() in ARTICLES and node.label == "DT" else node
        left = [child for child in children if child is not None]
        return Tree(node.label, left) if left else None

    return tree.fold(pruned)


def listed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Make three phrases of the last one: two of its label, about as long, come from other sentences."""
    verbs = parts(sentence)[1]
    last = verbs.children[-1]
    if last.label not in {"PP", "NP", "ADJP", "VP"} or len(last.words) > 5 or len(verbs.children) < 2:
        return None
    others = [
        verb.children[-1]
        for _, verb in map(parts, rng.sample(stock.sentences, min(200, len(stock.sentences))))
        if verb.children[-1].label == last.label and len(verb.children[-1].words) <= 5
    ]
    alike = [other for other in others if other.tags[0] == last.tags[0]][:2]
    if len(alike) < 2:
        return None
    conjunction = leaf(rng.choice(["CC and", "CC or"]))
    marks = (COMMA,) if rng.random() < 0.4 else ()
    three = Tree(last.label, (last, COMMA, alike[0], *marks, conjunction, alike[1]))
    verb_phrase = Tree("VP", (*verbs.children[:-1], three))
    whole = [verb_phrase if child is verbs else child for child in without_end(sentence)]
    return Tree("S", (*whole, STOP))


def related(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put the verb phrase of another sentence into a relative clause of the subject, before the verb phrase."""
    subject, verbs = parts(sentence)
    clause = parts(rng.choice(stock.sentences))[1]
    is_noun = subject.tags[-1] in {"NN", "NNS"} and all(child.is_leaf for child in subject.children)
    if not is_noun or len(subject.words) > 3 or len(clause.words) > 6 or (clause.words[0] or "'")[0] == "'":
        return None
    word = rng.choice(["WDT that", "WDT that", "WDT which", "WP who"])
    relative = Tree("SBAR", (Tree("WHNP", (leaf(word),)), Tree("S", (clause,))))
    return Tree("S", (capitalized(Tree("NP", (subject, relative))), verbs, STOP))


def asked(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = parts(sentence)
    if verbs.words[0][0] == "'" or len(verbs.words) > 12:
        return None
    first: tuple[Tree, ...] = (leaf(rng.choice(["WP Who", "WP What"])),)
    noun = subject.children[-1]
    if verbs.children[0].label == "VBP" and noun.label != "NNS":
        return None
    if noun.label == "NNS" and rng.random() < 0.7:
        many = Tree("WHADJP", (leaf("WRB How"), leaf("JJ many")))
        first = (rng.choice([leaf("WDT Which"), leaf("WDT What"), many]), noun)
    elif noun.label == "NN" and rng.random() < 0.7:
        first = (rng.choice([leaf("WDT Which"), leaf("WP$ Whose")]), noun)
    return Tree("SBARQ", (Tree("WHNP", first), Tree("SQ", (verbs,)), QUESTION))


def told(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Make a command of a verb phrase in the base form."""
    for node in sentence.nodes():
        is_long = 2 <= len(node.words) <= 10
        if (
            node.label == "VP"
            and is_long
            and node.children[0].label == "VB"
            and node.words[0] not in AUXILIARIES | {"be"}
        ):
            return Tree("S", (capitalized(node), leaf(rng.choice([". .", ". .", ". !"]))))
    return None


def short(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Keep the subject without what stands behind its noun, and the verb, if it has no objects."""
    subject, verbs = parts(sentence)
    verb, *others = verbs.children
    if (
        verb.word in AUXILIARIES
        or verb.label not in FINITE
        or any(child.label not in {"PP", "ADVP"} for child in others)
    ):
        return None
    core = subject.children[0] if subject.children[0].label == "NP" else subject
    if any(not child.is_leaf for child in core.children) or core.children[0].label == "PRP":
        return None
    noun_phrase = [child for child in core.children if child.label not in {"JJ", "JJR", "JJS", "CD"}]
    noun_phrase = noun_phrase or list(core.children)
    if rng.random() < 0.3 and noun_phrase[-1].label == "NNS":
        noun_phrase = noun_phrase[-1:]
    adverb = [child for child in others if child.label == "ADVP" and len(child.words) == 1][:1]
    phrase = [child for child in others if child.label == "PP"][:1] if rng.random() < 0.4 else []
    return Tree("S", (capitalized(Tree("NP", noun_phrase)), Tree("VP", (verb, *adverb, *phrase)), STOP))


def what(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Make an exclamation of a phrase such as "a beautiful garden"."""
    for node in sentence.nodes():
        tags = [child.label for child in node.children]
        if node.label == "NP" and tags in (["DT", "JJ", "NN"], ["DT", "NN"]) and node.children[0].word in {"a", "an"}:
            has_start = rng.random() < 0.4
            start = (Tree("INTJ", (leaf(rng.choice(["UH Wow", "UH Oh", "UH Ah"])),)), COMMA) if has_start else ()
            word = Tree("WDT", word="what" if has_start else "What")
            return Tree("FRAG", (*start, Tree("NP", (word, *node.children)), leaf(". !")))
    return None


def small(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put a verb before subject and predicate of a sentence with "be", or before its subject and a name."""
    subject, verbs = parts(sentence)
    labels = [child.label for child in verbs.children]
    if verbs.words[0] not in BE or labels[1:] not in (["ADJP"], ["NP"]) or subject.tags[-1] not in NOUNS:
        return None
    predicate = verbs.children[1]
    if labels[1] == "NP" and rng.random() < 0.7:
        predicate = another(stock, rng, lambda name, _: set(name.tags) == {"NNP"} and len(name.words) < 3)[0]
    if len(subject.words) > 3 or len(predicate.words) > 4:
        return None
    if rng.random() < 0.1:
        start, end = map(leaf, rng.choice(QUOTES))
        return _caused(Tree("S", (lowered(subject), start, predicate, end)), rng, stock, MAKING[labels[1]])
    return _caused(Tree("S", (lowered(subject), predicate)), rng, stock, MAKING[labels[1]])


def joined(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    other = Tree("S", another(stock, rng, lambda who, verbs: len(who.words) < 3 and len(verbs.words) < 6))
    if len(sentence.words) > 8:
        return None
    mark = rng.choice([COMMA, COMMA, leaf(": ;")])
    return Tree("S", (Tree("S", without_end(sentence)), mark, lowered(other), STOP))


def gapped(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Coordinate a sentence of subject, verb and noun phrase with a subject and a noun phrase of another one."""

    def suits(subject: Tree, verbs: Tree) -> bool:
        is_short = len(subject.words) < 4 and len(verbs.words) < 7
        return (
            is_short
            and verbs.words[0] not in BE
            and verbs.words[0][0] not in "'’"
            and [child.label for child in verbs.children[1:]] == ["NP"]
        )

    if len(without_end(sentence)) > 2 or not suits(*parts(sentence)):
        return None
    subject, verbs = another(stock, rng, suits)
    marks = (COMMA,) if rng.random() < 0.3 else ()
    rest = Tree("S", (lowered(subject), verbs.children[1]))
    return Tree("S", (Tree("S", without_end(sentence)), *marks, leaf("CC and"), rest, STOP))


def more(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put comparatives before two short sentences, or before their subjects alone."""

    def suits(subject: Tree, verbs: Tree) -> bool:
        is_short = len(subject.words) < 4 and len(verbs.words) < 5
        return is_short and verbs.words[0] not in BE and not set(verbs.tags) & {"JJ", "JJR", "JJS", "RB", "RBR"}

    if len(without_end(sentence)) > 2 or not suits(*parts(sentence)):
        return None
    subject, verbs = map(lowered, parts(sentence))
    other, other_verbs = map(lowered, another(stock, rng, suits))
    is_bare = subject.tags[-1] in NOUNS and other.tags[-1] in NOUNS
    words = GREATER if is_bare else RATHER
    first, second = (Tree("X", (Tree("DT", word=word), leaf(rng.choice(words)))) for word in ("The", "the"))
    if is_bare:
        return Tree("S", (Tree("SBAR", (first, subject)), COMMA, second, other, STOP))
    return Tree("S", (Tree("SBAR", (first, Tree("S", (subject, verbs)))), COMMA, second, other, other_verbs, STOP))


def believed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = parts(sentence)
    if verbs.words[0][0] in "'’" or len(verbs.words) > 10:
        return None
    first: tuple[Tree, ...] = (leaf(rng.choice(["WP Who", "WP Who", "WP What"])),)
    if subject.tags[-1] in {"NN", "NNS"} and rng.random() < 0.3:
        first = (leaf("WDT Which"), subject.children[-1])
    auxiliary, who = rng.choice(["VBP do", "VBP do", "VBD did"]), rng.choice(["you", "you", "they", "we"])
    believe = Tree("VP", (leaf(rng.choice(BELIEVING)), Tree("SBAR", (Tree("S", (verbs,)),))))
    return Tree("SBARQ", (Tree("WHNP", first), Tree("SQ", (leaf(auxiliary), pronoun(who), believe)), QUESTION))


def by_then(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = another(stock, rng, lambda who, verbs: len(who.words) < 5 and len(verbs.words) < 10)
    clause = Tree("SBAR", (Tree("S", (lowered(subject), verbs)),))
    time = Tree("NP", (Tree("NP", (leaf("DT the"), leaf("NN time"))), clause))
    first, last = leaf("IN By"), lowered(Tree("S", without_end(sentence))).children
    if rng.random() < 0.3:
        return Tree("S", (*without_end(sentence), Tree("PP", (leaf("IN by"), time)), STOP))
    return Tree("S", (Tree("PP", (first, time)), COMMA, *last, STOP))


def facts(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Make the subject of another sentence, or of "means that" a third one, of a noun that a sentence tells."""
    subject, verbs = another(stock, rng, lambda who, verbs: who.tags[-1] in NOUNS and len(verbs.words) < 8)
    if len(sentence.words) > 9:
        return None
    told = Tree("SBAR", (leaf("IN that"), lowered(Tree("S", without_end(sentence)))))
    fact = Tree("NP", (leaf("DT The"), leaf(rng.choice(TELLING)), told))
    if rng.random() < 0.4:
        clause = _elliptic(rng, stock) if rng.random() < 0.3 else Tree("S", (lowered(subject), verbs))
        meant = Tree("SBAR", (leaf("IN that"), clause))
        means = (leaf("VBZ does"), leaf(rng.choice(["RB not", "RB n't"])), Tree("VP", (leaf("VB mean"), meant)))
        verbs = Tree("VP", rng.choice([means, (leaf("VBZ means"), meant)]))
    return Tree("S", (fact, verbs, STOP))


def done(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put "have" or "get" before the subject and the participle of a passive sentence."""
    subject, verbs = parts(sentence)
    labels = [child.label for child in verbs.children]
    if verbs.words[0] not in BE or labels[1:] != ["VP"] or verbs.children[1].tags[0] != "VBN":
        return None
    return _caused(_told_of(subject, verbs), rng, stock, ("had have", "had have", "got get", "wanted want"))


def seen(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put a verb of perceiving or causing before the subject and the infinitive of a sentence."""
    subject, verbs = parts(sentence)
    labels = [child.label for child in verbs.children]
    if labels != ["MD", "VP"] or verbs.children[1].children[0].label != "VB" or verbs.words[1] in {"be", "have"}:
        return None
    return _caused(_told_of(subject, verbs), rng, stock, PERCEIVING)


def _told_of(subject: Tree, verbs: Tree) -> Tree:
    """Return a clause of a subject in the objective case and the verb phrase below an auxiliary."""
    whom = respelled(lowered(subject), lambda word, tag, _: OBJECTS.get(word, word) if tag == "PRP" else word)
    return Tree("S", (whom, verbs.children[1]))


def _caused(clause: Tree, rng: random.Random, stock: Stock, causing: Sequence[str]) -> Tree | None:
    """Return a sentence whose verb, past and base form in one string, has a clause."""
    if len(clause.words) > 13 or len(clause.children[0].words) > 4 or clause.tags[0] == "EX":
        return None
    past, base = rng.choice(causing).split()
    verb_phrase = Tree("VP", (Tree("VBD", word=past), clause))
    if rng.random() < 0.4:
        inner = Tree("VP", (Tree("VB", word=base), clause))
        verb_phrase = Tree("VP", (leaf(rng.choice(["MD will", "MD must", "MD can", "MD should"])), inner))
    who = another(stock, rng, lambda who, _: len(who.words) < 3)[0]
    return Tree("S", (capitalized(who), verb_phrase, STOP))


def left_out(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Join a sentence by "but" or "and" to a subject and an auxiliary."""
    conjunction = leaf(rng.choice(["CC but", "CC but", "CC and"]))
    whole = (Tree("S", without_end(sentence)), COMMA, conjunction, _elliptic(rng, stock))
    return Tree("S", (*whole, STOP)) if len(sentence.words) < 10 else None


def _elliptic(rng: random.Random, stock: Stock) -> Tree:
    """Return a subject and an auxiliary."""
    who = lowered(another(stock, rng, lambda who, _: len(who.words) < 4)[0])
    verb = rng.choice(["VBD did", "VBZ does", "MD will", "MD would", "MD could", "MD ca", "VBD was", "VBZ has"])
    is_negative = verb == "MD ca" or rng.random() < 0.6
    return Tree("S", (who, Tree("VP", (leaf(verb), *([leaf("RB n't")] if is_negative else [])))))


def verbed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put a verb that is mostly a noun before the object of another one, in a command or where it stands."""
    for node in sentence.nodes():
        labels = [child.label for child in node.children]
        if node.label == "VP" and labels[:2] == ["VB", "NP"] and len(node.words) <= 9:
            verb = Tree("VB", word=rng.choice(sorted(VERBED)))
            phrase = Tree("VP", (verb, *node.children[1:]))
            if rng.random() < 0.3:
                return sentence.fold(
                    lambda other, children, old=node, new=phrase: (
                        new if other is old else Tree(other.label, children) if children else other
                    )
                )
            phrase = _with_time(phrase, rng) if rng.random() < 0.3 else phrase
            please = (Tree("INTJ", (leaf("UH Please"),)),) if rng.random() < 0.2 else ()
            phrase = phrase if please else capitalized(phrase)
            return Tree("S", (*please, phrase, leaf(rng.choice([". .", ". .", ". !"]))))
    return None


def pressed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    purpose = told(sentence, rng, stock)
    if purpose is None:
        return None
    infinitive = Tree("S", (Tree("VP", (leaf("TO to"), lowered(purpose.children[0]))),))
    return Tree(
        "S", (Tree("VP", (leaf(rng.choice(PRESSING)), Tree("NP", (leaf(rng.choice(BUTTONS)),)), infinitive)), STOP)
    )


def _with_time(verbs: Tree, rng: random.Random) -> Tree:
    """Return a verb phrase with "twice a day", "three times a week" at its end."""
    number = leaf(rng.choice(TIMES))
    period = Tree("NP", (leaf(rng.choice(["DT a", "DT a", "DT every", "DT each"])), leaf(rng.choice(PERIODS))))
    if number.label == "RB":
        return Tree("VP", (*verbs.children, Tree("ADVP", (number, period))))
    return Tree("VP", (*verbs.children, Tree("NP", (Tree("NP", (number, leaf("NNS times"))), period))))


def often(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Say how often, at the end of a short command or sentence."""
    command = told(sentence, rng, stock)
    if command is not None and len(command.words) < 8 and rng.random() < 0.5:
        return Tree("S", (_with_time(command.children[0], rng), command.children[1]))
    subject, verbs = parts(sentence)
    if len(sentence.words) > 9 or not is_main(verbs.children[0]):
        return None
    return Tree("S", (subject, _with_time(verbs, rng), STOP))


def doubled(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put "more than" before a verb of growth, or before another one with its object."""
    subject, verbs = parts(sentence)
    verb, *others = verbs.children
    labels = [child.label for child in others]
    if verb.label != "VBD" or verb.word in AUXILIARIES or subject.tags[-1] not in NOUNS or "NP" in labels[1:]:
        return None
    has_object = labels[:1] == ["NP"] and rng.random() < 0.5
    others = others[:1] if has_object else [other for other in others if other.label == "PP"][-1:]
    than = Tree("ADVP", (leaf(rng.choice(["RBR more", "RBR more", "RBR less"])), leaf("IN than")))
    verb = Tree("VBD", word=rng.choice(sorted(OFFSETTING if has_object else DOUBLING)))
    return Tree("S", (subject, Tree("VP", (than, verb, *others)), STOP))


def never(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put a negative adverb and the auxiliary before the subject."""
    subject, verbs = parts(sentence)
    verb, *others = verbs.children
    word = FULL_FORMS.get(verb.word or "", verb.word or "")
    if word not in AUXILIARIES or [child.label for child in others] != ["VP"] or len(others[0].words) > 14:
        return None
    first = Tree("ADVP", [leaf(text) for text in rng.choice(NEVER).split(",")])
    return Tree("SINV", (first, Tree(verb.label, word=word), lowered(subject), others[0], STOP))


def timed(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    subject, verbs = parts(sentence)
    if len(sentence.words) > 10 or not is_main(verbs.children[0]) or len(without_end(sentence)) > 2:
        return None
    clause = Tree("S", another(stock, rng, lambda who, other: len(who.words) < 4 and len(other.words) < 7))
    when = [leaf(text) for text in rng.choice(DURATIONS).split(",") if text]
    duration = Tree("NP" if len(when) > 1 else "ADVP", when)
    after = Tree("SBAR", (duration, leaf(rng.choice(["IN before", "IN after"])), lowered(clause)))
    return Tree("S", (subject, Tree("VP", (*verbs.children, after)), STOP))


def shared(sentence: Tree, rng: random.Random, stock: Stock) -> Tree | None:
    """Put one or two verbs of other sentences before the verb of a sentence with an object."""
    subject, verbs = parts(sentence)
    verb, *others = verbs.children
    if not is_main(verb) or [child.label for child in others][:1] != ["NP"]:
        return None

    def suits(_: Tree, other: Tree) -> bool:
        return [child.label for child in other.children][:2] == [verb.label, "NP"] and is_main(other.children[0])

    more_verbs = [another(stock, rng, suits)[1].children[0] for _ in range(rng.choice([1, 1, 2]))]
    verbs_are_many = len({other.word for other in (verb, *more_verbs)}) > len(more_verbs)
    if not verbs_are_many or {other.label for other in more_verbs} != {verb.label}:
        return None
    marks = [mark for other in more_verbs for mark in (other, COMMA)][:-1]
    conjunction = leaf(rng.choice(["CC and", "CC and", "CC or"]))
    return Tree("S", (subject, Tree("VP", (*marks, conjunction, verb, *others)), STOP))


def another(stock: Stock, rng: random.Random, suits: Callable[[Tree, Tree], bool]) -> tuple[Tree, Tree]:
    """Return subject and verb phrase of a sentence drawn at random, of those for which suits(subject, verbs) if any."""
    drawn = map(parts, rng.sample(stock.sentences, len(stock.sentences)))
    return next((pair for pair in drawn if suits(*pair)), parts(stock.sentences[0]))


CONSTRUCTIONS: dict[str, Construct] = {
    construct.__name__: construct
    for construct in (
        *(quoted, spoken, parted, tagged, had, so, placed, headline, listed, related, asked, told, short, what),
        *(small, joined, gapped, more, believed, by_then, facts, done, seen, left_out),
        *(verbed, pressed, often, doubled, never, timed, shared),
    )
}


if __name__ == "__main__":
    main()
