"""Phrase structure from dependencies."""

import gzip
import random
from collections import Counter

import pytest

from spacy_lpcfg.trees import TreebankError, read_trees
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.dependency_sentences import DependencySentence
from spacy_lpcfg.trees.phrases import phrases_of, read_phrases
from spacy_lpcfg.trees.phrases.projective import projectivize


def sentence(text):
    """Read words as word/part/head/relation, or word/part/tag/head/relation; heads count from 1, 0 is the root."""
    rows = [item.split("/") for item in text.split()]
    words, parts, *tags, heads, relations = ([row[i] for row in rows] for i in (0, 1, *range(2, len(rows[0]))))
    return DependencySentence(
        tuple(words),
        tuple(tags[0]) if tags else (None,) * len(rows),
        tuple(parts),
        ("_",) * len(rows),
        tuple(int(head) - 1 for head in heads),
        tuple(relations),
    )


CASES = """
# subject, auxiliaries and an adverb between
She/PRON/4/nsubj will/AUX/4/aux never/ADV/4/advmod see/VERB/0/root the/DET/6/det sea/NOUN/4/obj ./PUNCT/4/punct
(S (NP (PRON She)) (VP (AUX will) (ADVP (ADV never)) (VP (VERB see) (NP (DET the) (NOUN sea)))) (. .))
# copula, negation and a predicate with what follows it
It/PRON/4/nsubj is/AUX/4/cop not/PART/4/advmod friend/NOUN/0/root of/ADP/6/case mine/PRON/4/nmod
(S (NP (PRON It)) (VP (AUX is) (PART not) (NP (NP (NOUN friend)) (PP (ADP of) (NP (PRON mine))))))
# quotation marks of treebanks
``/PUNCT/2/punct Go/VERB/0/root ''/PUNCT/2/punct
(S (`` ``) (VP (VERB Go)) ('' ''))
# question with the auxiliary before its subject
Did/AUX/3/aux he/PRON/3/nsubj go/VERB/0/root ?/PUNCT/3/punct
(SQ (AUX Did) (NP (PRON he)) (VP (VERB go)) (. ?))
# coordination of verb phrases, whose subject and object are shared
We/PRON/2/nsubj buy/VERB/0/root and/CCONJ/4/cc sell/VERB/2/conj old/ADJ/6/amod books/NOUN/2/obj
(S (NP (PRON We)) (VP (VERB buy) (CCONJ and) (VERB sell) (NP (ADJ old) (NOUN books))))
# coordination of verb phrases
We/PRON/2/nsubj buy/VERB/0/root books/NOUN/2/obj and/CCONJ/5/cc leave/VERB/2/conj
(S (NP (PRON We)) (VP (VP (VERB buy) (NP (NOUN books))) (CCONJ and) (VP (VERB leave))))
# coordination of adjectives, with a conjunction before the first
It/PRON/4/nsubj is/AUX/4/cop both/CCONJ/4/cc:preconj cold/ADJ/0/root and/CCONJ/6/cc clear/ADJ/4/conj
(S (NP (PRON It)) (VP (AUX is) (ADJP (CCONJ both) (ADJ cold) (CCONJ and) (ADJ clear))))
# coordination by several words
cats/NOUN/0/root as/ADV/5/cc well/ADV/2/fixed as/ADP/2/fixed dogs/NOUN/1/conj
(NP (NOUN cats) (CONJP (ADV as) (ADV well) (ADP as)) (NOUN dogs))
# coordination of clauses
It/PRON/2/nsubj rained/VERB/0/root but/CCONJ/5/cc we/PRON/5/nsubj went/VERB/2/conj
(S (S (NP (PRON It)) (VP (VERB rained))) (CCONJ but) (S (NP (PRON we)) (VP (VERB went))))
# coordination below one adposition
in/ADP/2/case Rome/PROPN/0/root or/CCONJ/4/cc Oslo/PROPN/2/conj
(PP (ADP in) (NP (PROPN Rome) (CCONJ or) (PROPN Oslo)))
# coordination of two adpositions
in/ADP/2/case Rome/PROPN/0/root or/CCONJ/5/cc in/ADP/5/case Oslo/PROPN/2/conj
(PP (PP (ADP in) (NP (PROPN Rome))) (CCONJ or) (PP (ADP in) (NP (PROPN Oslo))))
# subordinate clauses with and without a conjunction
I/PRON/2/nsubj know/VERB/0/root that/SCONJ/5/mark you/PRON/5/nsubj think/VERB/2/ccomp it/PRON/7/nsubj works/VERB/5/ccomp
(S (NP (PRON I)) (VP (VERB know) (SBAR (SCONJ that) (S (NP (PRON you)) (VP (VERB think) (SBAR (S (NP (PRON it)) (VP
(VERB works)))))))))
# relative clause, whose pronoun its tag tells
boats/NOUN/NNS/0/root that/PRON/WDT/3/nsubj sank/VERB/VBD/1/acl:relcl
(NP (NP (NOUN boats)) (SBAR (WHNP (PRON that)) (S (VP (VERB sank)))))
# infinitive, and a number with a modifier
Try/VERB/VB/0/root to/PART/TO/3/mark buy/VERB/VB/1/xcomp about/ADV/RB/5/advmod ten/NUM/CD/6/nummod cats/NOUN/NNS/3/obj
(S (VP (VERB Try) (S (VP (PART to) (VP (VERB buy) (NP (QP (ADV about) (NUM ten)) (NOUN cats)))))))
# object of which something is said
She/PRON/2/nsubj lets/VERB/0/root him/PRON/2/obj go/VERB/2/xcomp home/ADV/4/advmod
(S (NP (PRON She)) (VP (VERB lets) (S (NP (PRON him)) (VP (VERB go) (ADVP (ADV home))))))
# adposition whose noun phrase is elsewhere
What/PRON/WP/4/obl are/AUX/VBP/4/aux they/PRON/PRP/4/nsubj fighting/VERB/VBG/0/root for/ADP/IN/1/case
(SBARQ (WHNP (PRON What)) (S (AUX are) (NP (PRON they)) (VP (VERB fighting) (PP (ADP for)))))
# subordinate clause with a bare adverb
He/PRON/2/nsubj won/VERB/0/root by/SCONJ/5/mark quickly/ADV/5/advmod leaving/VERB/2/advcl
(S (NP (PRON He)) (VP (VERB won) (SBAR (SCONJ by) (S (VP (ADVP (ADV quickly)) (VERB leaving))))))
# name after what it names, and one after a comma
my/PRON/2/nmod:poss friend/NOUN/0/root Ann/PROPN/2/appos Lee/PROPN/3/flat ,/PUNCT/6/punct Bob/PROPN/2/appos
(NP (NP (PRON my) (NOUN friend) (PROPN Ann) (PROPN Lee)) (, ,) (NP (PROPN Bob)))
# modifier with a hyphen
a/DET/5/det real/ADJ/4/amod -/PUNCT/4/punct world/NOUN/5/compound test/NOUN/0/root
(NP (DET a) (ADJP (ADJ real) (: -) (NOUN world)) (NOUN test))
# date and range
on/ADP/2/case 31/NUM/0/root October/PROPN/2/nmod:unmarked 2/NUM/2/nmod to/ADP/6/case 3/NUM/4/nmod
(PP (ADP on) (NP (NP (NUM 31) (PROPN October)) (NP (NUM 2) (ADP to) (NUM 3))))
# as long as
as/ADV/2/advmod long/ADV/0/root as/SCONJ/5/mark it/PRON/5/nsubj rains/VERB/2/advcl
(ADVP (ADVP (ADV as) (ADV long)) (SBAR (SCONJ as) (S (NP (PRON it)) (VP (VERB rains)))))
# repair, and words that link
So/ADV/5/advmod of/ADV/5/advmod course/NOUN/2/fixed I/PRON/5/nsubj slept/VERB/0/root
(S (ADV So) (ADVP (ADV of) (NP (NOUN course))) (NP (PRON I)) (VP (VERB slept)))
# parenthesis in brackets
cats/NOUN/0/root (/PUNCT/3/punct mice/NOUN/1/appos )/PUNCT/3/punct sleep/NOUN/1/appos
(NP (NP (NOUN cats)) (PRN (-LRB- -LRB-) (NP (NOUN mice)) (-RRB- -RRB-)) (NP (NOUN sleep)))
# preposition of several words
because/ADP/3/case of/ADP/1/fixed rain/NOUN/0/root
(PP (ADP because) (ADP of) (NP (NOUN rain)))
# German: the verb at the end, and a prefix that was cut off
dass/SCONJ/5/mark er/PRON/5/nsubj das/DET/4/det Buch/NOUN/5/obj gelesen/VERB/0/root hat/AUX/5/aux
(SBAR (SCONJ dass) (S (NP (PRON er)) (VP (VP (NP (DET das) (NOUN Buch)) (VERB gelesen)) (AUX hat))))
# German: the verb second
Gestern/ADV/2/advmod kam/VERB/0/root er/PRON/2/nsubj heim/ADV/2/advmod
(S (ADVP (ADV Gestern)) (VP (VERB kam)) (NP (PRON er)) (ADVP (ADV heim)))
# Japanese: particles after nouns, auxiliaries after verbs
猫/NOUN/3/nsubj が/ADP/1/case 見/VERB/0/root まし/AUX/3/aux た/AUX/3/aux 。/PUNCT/3/punct
(S (PP (NP (NOUN 猫)) (ADP が)) (VP (VP (VP (VERB 見)) (AUX まし)) (AUX た)) (. 。))
# German: a statement with the auxiliary before its subject
Heute/ADV/4/advmod hat/AUX/4/aux es/PRON/4/nsubj geregnet/VERB/0/root ./PUNCT/4/punct
(S (ADVP (ADV Heute)) (AUX hat) (NP (PRON es)) (VP (VERB geregnet)) (. .))
# Chinese: a suffix as the head, an adverb called a conjunction after the subject
画/VERB/2/compound 家/PART/4/nsubj 也/SCONJ/4/mark 来/VERB/0/root 了/AUX/4/aux
(S (NP (NX (VERB 画) (PART 家))) (SCONJ 也) (VP (VP (VERB 来)) (AUX 了)))
# Hebrew: a noun with another one, an article before the adjective
בית/NOUN/0/root ה/DET/3/det ספר/NOUN/1/compound ה/DET/5/det גדול/ADJ/1/amod
(NP (NP (NOUN בית) (NP (DET ה) (NOUN ספר))) (NP (DET ה) (ADJ גדול)))
# Russian: no copula
Он/PRON/2/nsubj врач/NOUN/0/root из/ADP/4/case Омска/PROPN/2/nmod
(S (NP (PRON Он)) (NP (NP (NOUN врач)) (PP (ADP из) (NP (PROPN Омска)))))
# Turkish: the object before the verb, and a genitive before its noun
Ali/PROPN/4/nsubj evin/NOUN/3/nmod:poss kapısını/NOUN/4/obj açtı/VERB/0/root
(S (NP (PROPN Ali)) (VP (NP (NP (NOUN evin)) (NOUN kapısını)) (VERB açtı)))
# Telugu: the last of two verbs as the head
నేను/PRON/3/nsubj నడిచి/VERB/3/compound:svc వెళ్తాను/VERB/0/root
(S (NP (PRON నేను)) (VP (VP (VERB నడిచి)) (VERB వెళ్తాను)))
# Vietnamese: the first of two verbs as the head
Tôi/PRON/2/nsubj bước/VERB/0/root ra/VERB/2/compound:svc
(S (NP (PRON Tôi)) (VP (VERB bước) (VERB ra)))
# Indonesian: an adjective after a noun that modifies the head
kursi/NOUN/0/root kayu/NOUN/1/nmod tua/ADJ/1/amod
(NP (NP (NOUN kursi)) (NP (NOUN kayu)) (ADJP (ADJ tua)))
# several roots
Yes/INTJ/0/root it/PRON/3/nsubj works/VERB/0/root
(INTJ (INTJ Yes) (S (NP (PRON it)) (VP (VERB works))))
# nothing but punctuation
./PUNCT/0/root ./PUNCT/1/punct
(NP (. .) (. .))
"""


def cases(text: str) -> dict[str, tuple[str, str]]:
    """Read what each case is called, its words, and its tree."""
    found: dict[str, tuple[str, str]] = {}
    for case in text.split("\n# ")[1:]:
        name, *lines = case.splitlines()
        words, brackets = ([line for line in lines if ("/" in line) == has_slash] for has_slash in (True, False))
        found[name] = " ".join(words), " ".join(brackets)
    return found


CONSTRUCTIONS = cases(CASES)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions(name):
    text, expected = CONSTRUCTIONS[name]
    assert str(phrases_of(sentence(text)).tree) == expected


PARTS = ("NOUN", "PROPN", "PRON", "VERB", "AUX", "ADJ", "ADV", "ADP", "DET", "NUM", "PART", "CCONJ", "INTJ", "PUNCT")
RELATIONS = (
    "nsubj csubj expl obj obl advmod advcl acl acl:relcl amod nummod det case mark cc conj cop aux compound flat fixed "
    "parataxis appos nmod nmod:poss xcomp ccomp discourse punct"
)


def random_heads(rng, n_words):
    """Draw a tree, which may have crossing arcs."""
    heads = [NO_HEAD] * n_words
    order = rng.sample(range(n_words), n_words)
    for i, word in enumerate(order[1:], start=1):
        heads[word] = order[rng.randrange(i)]
    return heads


def random_sentence(rng):
    n_words = rng.randrange(1, 12)
    heads = random_heads(rng, n_words)
    return DependencySentence(
        tuple(f"w{i}" for i in range(n_words)),
        (None,) * n_words,
        tuple(rng.choices(PARTS, k=n_words)),
        tuple(rng.choices(("_", "PronType=Int,Rel"), (9, 1), k=n_words)),
        tuple(heads),
        tuple("root" if head == NO_HEAD else rng.choice(RELATIONS.split()) for head in heads),
    )


def below(heads, top):
    """Find the words below one, which is among them, by walking up from each."""
    words = set()
    for word in range(len(heads)):
        above = word
        while above not in (top, NO_HEAD):
            above = heads[above]
        if above == top:
            words.add(word)
    return words


def is_crossing(heads, word):
    """Return whether a word between one and its head is not below the head."""
    low, high = sorted((word, heads[word]))
    return heads[word] != NO_HEAD and not {*range(low, high)} <= below(heads, heads[word])


def slowly_lifted(heads):
    """Lift the shortest crossing arc, the first of several, until there is none."""
    heads = [*heads]
    while crossing := [word for word in range(len(heads)) if is_crossing(heads, word)]:
        word = min(crossing, key=lambda word: (abs(word - heads[word]), word))
        heads[word] = heads[heads[word]]
    return heads


@pytest.mark.parametrize("seed", range(30))
def test_lifting_agrees_with_the_reference(seed):
    rng = random.Random(seed)
    heads = random_heads(rng, rng.randrange(1, 13))
    expected = slowly_lifted(heads)
    n_lifted = sum(a != b for a, b in zip(heads, expected, strict=True))
    assert projectivize(heads) == (expected, n_lifted)
    assert projectivize(expected) == (expected, 0)


@pytest.mark.parametrize("seed", range(40))
def test_trees_keep_the_words_and_the_subtrees_of_heads(seed):
    drawn = random_sentence(random.Random(seed))
    tree, n_lifted = phrases_of(drawn)
    assert tree.words == [*drawn.words]
    punctuation = {i for i, part in enumerate(drawn.parts_of_speech) if part == "PUNCT"} - {*drawn.heads}
    spans = [{*range(start, end)} - punctuation for start, end, _ in tree.spans()]
    heads, n_words = [*drawn.heads], len(drawn.words)
    if not n_lifted and len(punctuation) < n_words:
        for word in {*range(n_words)} - punctuation:
            subtree = below(heads, word) - punctuation
            crossing = [span for span in spans if span & subtree and span - subtree and subtree - span]
            # A conjunction goes to the phrase above, and so may what follows it to that of the conjuncts.
            assert not [span for span in crossing if not _is_shared(drawn, word)]


def _is_shared(drawn, word):
    related = [i for i, head in enumerate(drawn.heads) if head == word or i == word]
    return any(drawn.relations[i] in ("cc", "conj") for i in related)


ROW = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_"
CONLLU = f"""\
# sent_id = 1
{ROW.format(1, "Al", "PROPN", 2, "nsubj")}
2-3\tdámelo\t_\t_\t_\t_\t_\t_\t_\t_
{ROW.format(2, "da", "VERB", 0, "root")}
{ROW.format(3, "(ya lo", "PRON", 2, "obj")}
3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_


{ROW.format(1, "b", "NOUN", 3, "obj")}
{ROW.format(2, "c", "VERB", 0, "root")}
{ROW.format(3, "d", "ADV", 2, "advmod")}
{ROW.format(4, "e", "NOUN", 1, "nmod")}
"""


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
def test_files_are_read_by_their_looks(new_file, name):
    path = new_file(name, gzip.compress(CONLLU.encode()) if name.endswith(".gz") else CONLLU.encode())
    dropped = Counter()
    first, second = read_trees(path, dropped=dropped)
    assert str(first) == "(S (NP (PROPN Al)) (VP (VERB da) (NP (PRON -LRB-ya_lo))))"
    assert second.words == ["b", "c", "d", "e"]
    assert dropped == {"trees whose crossing dependencies were lifted": 1}


def test_errors_have_file_and_line():
    lines = CONLLU.split("\n")
    lines[10] = lines[10].replace("\t2\tadvmod", "\t7\tadvmod")
    with pytest.raises(TreebankError, match=r"^a\.conllu:11: Expected the number of a head from 0 to 4, got '7'"):
        list(read_phrases(lines, "a.conllu", None, Counter()))
    errors = []
    assert len(list(read_phrases(lines, "a.conllu", errors.append, Counter()))) == 1
    assert len(errors) == 1
