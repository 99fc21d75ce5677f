"""Soak: many documents of mixed and nasty text through a pipeline; what fails, what grows, and what changes.

    python -m fuzz.soak                          # the grammar that comes with the package
    python -m fuzz.soak MODEL --docs 200000 --threads 2 --text FILE
    python -m fuzz.soak MODEL --docs 50000 --threads 4 --sentences

MODEL is a folder of `spacy-lpcfg learn`. Documents are drawn by a seed: sentences of the sample treebank and of
the lines of FILE, and some of 60 to 300 words; empty documents, white space, one token; emoji, combining marks, writing
from right to left, control characters and NULs, lone surrogates (of which spaCy's tokenizer takes none: they come as
question marks), tokens of thousands of letters, digits, brackets, addresses, repeated punctuation, no sentence ends.
With --sentences each document is an ordinary sentence.

Told are failures, documents a CPU second, and the memory of the process after each tenth of the documents, the first of
which warms up. spaCy keeps every new word in its StringStore, so that a vocabulary grows with a text; therefore each
batch of documents has an `nlp.memory_zone` where there is one (spaCy 3.8); --keep does without, to see what that is
worth. The trees of 100 documents before and after have to be the same. With --threads as many threads share the
pipeline, from its first document on: one thread parses every hundredth of their documents again, and finds the same
trees; and each of the threads finds those of the 100 documents.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks import measure
from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.bracketing.tags import universal
from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
from spacy_lpcfg.trees import read_trees
from spacy_lpcfg.trees.transforms import unescape_token

SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample" / "train.mrg"
ODD = [
    "",
    " ",
    " \n\t \u00a0\u2003",
    "Yes",
    ".",
    "👩‍🔬 😀😀 🏳️‍🌈 met 👋🏽",
    "e\u0301\u0323\u0300 Z\u0351\u036b\u0343a\u0334lgo \u200d\ufeff",
    "قال الرجل إن السفينة تأخرت . שלום עולם \u202eabc\u202c",
    "\x00 a \x00b \x1b[0m \x07\x7f",
    "\ud800 lone \udfff surrogates",
    "-LRB- ( [ { -RRB- ) ] } `` '' -NONE- *T*-1",
    "<tag NN> <form> (S (NP (DT the",
    "https://example.org/a?b=c&d=%20#e user@example.org C:\\a\\b",
    "!!! ??? ... ,,,, ---- ;;;; ?!?!?!",
    "3.14 1,000,000 -7 10^9 0x1F 12:30 1/2 %",
    "日本語の文は空白がない。これも文だ。",
    "I I I I I I I I I I the the the of of of",
]
TAGS = ("NN", "VBD", "DT", "IN", "JJ")
SHARES = {"sentence": 60, "odd": 20, "letters": 8, "mixed": 8, "no end": 3, "token": 0.7, "split": 0.3, "long": 0.3}


@dataclass
class Drawn:
    """Texts that are drawn from sentences, by a seed.

    sentences (list of str): Ordinary ones.
    shares (dict of str to float): How much there is of each kind of text.
    """

    sentences: list[str]
    seed: int = 0
    shares: dict[str, float] = field(default_factory=lambda: SHARES)
    _random: random.Random = field(init=False)

    def __iter__(self) -> Iterator[str]:
        """Endless; the same ones whenever it is begun anew."""
        self._random = random.Random(self.seed)
        kinds, weights = list(self.shares), list(self.shares.values())
        while True:
            yield self._of_kind(self._random.choices(kinds, weights)[0])

    def _of_kind(self, kind: str) -> str:
        draw = self._random
        if kind == "sentence":
            return draw.choice(self.sentences)
        if kind == "odd":
            return draw.choice(ODD)
        if kind == "letters":  # words that no text has: what vocabularies and caches grow by
            return " ".join(
                "".join(draw.choices("abcdeiou-Xé9", k=draw.randint(1, 9))) for _ in range(draw.randint(1, 8))
            )
        if kind == "mixed":
            return f"{draw.choice(ODD)} {draw.choice(self.sentences)} {draw.choice(ODD)}"
        if kind == "long":
            return self._words(draw.choice((60, 100, 150, 300)))
        if kind == "no end":
            return self._words(draw.randint(5, 30))
        if kind == "token":
            return draw.choice("aé9") * draw.choice((100, 1_000, 10_000))
        return draw.choice("-😀(") * draw.choice((10, 30, 100, 300))  # as many tokens

    def _words(self, n: int) -> str:
        """n words without the end of a sentence."""
        words: list[str] = []
        while len(words) < n:
            words += self._random.choice(self.sentences).rstrip(" .?!").split()
        return " ".join(words[:n])


def sample_sentences() -> list[str]:
    return [" ".join(map(unescape_token, tree.words)) for tree in read_trees(SAMPLE)]


@dataclass
class Run:
    """The results of parsing the documents.

    failures (list of str): Of documents that raised an error.
    statuses (dict of str to int): How many sentences have each.
    memory (list of float): MB of the process, after each tenth.
    kept (list of (str, what was written)): Every hundredth text of those that threads have parsed.
    """

    n_docs: int = 0
    n_words: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)
    kept: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """Percent by which memory has grown after the first tenth."""
        return 100 * (max(self.memory[1:], default=self.memory[0]) / self.memory[0] - 1)

    def note(self, docs: list[Doc], *, keeps: bool) -> None:
        for doc in docs:
            if keeps and self.n_docs % 100 == 0:
                self.kept.append((doc.text, _written(doc)))
            self.n_docs += 1
            self.n_words += len(doc)
            for group in doc.spans.values():
                for status in group.attrs["status"]:
                    self.statuses[status] = self.statuses.get(status, 0) + 1


def soak(
    nlp: Language, texts: Iterator[str], n_docs: int, *, keep: bool = False, batch: int = 500, n_threads: int = 1
) -> Run:
    """Send documents through `nlp.pipe`.

    keep (bool): New words stay in the vocabulary.
    n_threads (int): Each parses a part of every batch.
    """
    run = Run()
    nlp.set_error_handler(lambda name, component, docs, error: run.failures.append(f"{name}: {error!r}"))
    zone = nlp.memory_zone if hasattr(nlp, "memory_zone") and not keep else nullcontext
    start = time.process_time()
    with ThreadPoolExecutor(n_threads) as pool:
        for tenth in range(10):
            size = n_docs * (tenth + 1) // 10 - n_docs * tenth // 10
            for some in in_batches(islice(texts, size), batch):
                with zone():
                    for docs in pool.map(lambda part: list(nlp.pipe(part)), _parts(some, n_threads)):
                        run.note(docs, keeps=n_threads > 1)
                    del docs  # no Doc outlives its zone
            run.memory.append(memory_mb())
            run.seconds = time.process_time() - start
            measure.progress(f"{run.n_docs:,} documents, {run.seconds:,.0f} CPU s, {run.memory[-1]:,.0f} MB")
    return run


def _parts(texts: list[str], n: int) -> list[list[str]]:
    """Texts in n parts, as the pipeline takes them."""
    return [list(_encodable(texts[i::n])) for i in range(n)]


def _encodable(texts: list[str]) -> Iterator[str]:
    """Texts; those with lone surrogates, which spaCy's tokenizer refuses, with question marks for them."""
    return (text.encode("utf-8", "replace").decode("utf-8") for text in texts)


def trees_of(nlp: Language, texts: list[str]) -> list[Any]:
    """Return what the components wrote to each document in a form that can be compared."""
    return [_written(doc) for doc in nlp.pipe(_encodable(texts))]


def _written(doc: Doc) -> Any:
    groups = {
        key: ([(s.start, s.end, s.label_) for s in group], group.attrs["status"], group.attrs["scores"].tolist())
        for key, group in doc.spans.items()
    }
    return groups, [token.tag_ for token in doc]


def trees_by_threads(nlp: Language, texts: list[str], n_threads: int) -> list[list[Any]]:
    """The trees that each of several threads finds at a time."""
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda _: trees_of(nlp, texts), range(n_threads)))


def memory_mb() -> float:
    """Return the memory of the process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1.024e-3
    return float("nan")


def pipeline(model: Path | None) -> Language:
    """A pipeline with sentence boundaries; tags for a bracketer, which needs some, are made of the words' forms."""
    if model is None:
        nlp = spacy.blank("en")
        nlp.add_pipe("lpcfg_parser")
    else:
        nlp = spacy.load(model)
    if "lpcfg_sentencizer" not in nlp.pipe_names:
        nlp.add_pipe("lpcfg_sentencizer", first=True)
    if any(isinstance(component, SpectralBracketerPipe) for _, component in nlp.pipeline):
        nlp.add_pipe("soak_tags", first=True)
    return nlp


@Language.component("soak_tags")
def soak_tags(doc: Doc) -> Doc:
    """Tags for each token by its form and length alone, the same in any run."""
    for token in doc:
        token.tag_ = "." if token.is_punct else "CD" if token.is_digit else TAGS[len(token.text) % len(TAGS)]
        token.pos_ = universal(token.tag_)
    return doc


def main() -> None:
    parser = measure.arguments(__doc__)
    parser.add_argument("model", type=Path, nargs="?", help="default: the English model that comes with the package")
    parser.add_argument("--docs", type=int, default=200_000)
    parser.add_argument(
        "--threads", type=int, default=0, help="share the pipeline among so many, and compare them with one"
    )
    parser.add_argument("--text", type=Path, metavar="FILE", help="sentences from here as well, one a line")
    parser.add_argument("--sentences", action="store_true", help="documents of one ordinary sentence each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="do without nlp.memory_zone")
    report(parser.parse_args())


def report(args: argparse.Namespace) -> None:
    more = args.text.read_text(encoding="utf-8").splitlines() if args.text else []
    shares = {"sentence": 1.0} if args.sentences else SHARES
    texts = Drawn(sample_sentences() + [line for line in more if line.strip()], args.seed, shares)
    nlp = pipeline(args.model)
    probes = list(islice(Drawn(texts.sentences, args.seed + 1, shares), 100))
    before = trees_of(pipeline(args.model), probes)
    start = time.monotonic()
    run = soak(nlp, iter(texts), args.docs, keep=args.keep, n_threads=max(args.threads, 1))
    hours = (time.monotonic() - start) / 3600
    row: measure.Row = {
        "component": nlp.pipe_names[-1] if args.model else "lpcfg_parser (en)",
        "documents": run.n_docs,
        "tokens": run.n_words,
        "failures": len(run.failures) + args.docs - run.n_docs,
        "hours": hours,
        "CPU seconds": run.seconds,
        "documents a CPU second": run.n_docs / run.seconds,
        "MB after a tenth": run.memory[0],
        "MB at the end": run.memory[-1],
        "most growth, %": run.growth,
        "same trees": str(trees_of(nlp, probes) == before),
    }
    if args.threads:
        found = trees_by_threads(nlp, probes, args.threads)
        same = trees_of(nlp, [text for text, _ in run.kept]) == [trees for _, trees in run.kept]
        row[f"same by {args.threads} threads"] = str(same and all(each == before for each in found))
    statuses = [{"status": status, "sentences": n} for status, n in sorted(run.statuses.items())]
    measure.report({"Soak": [row], "How sentences were parsed": statuses}, args.json)
    for failure in run.failures[:20]:
        measure.progress(failure)


if __name__ == "__main__":
    main()
