"""Measure what the bracketer costs: learning, its native call, and the growth with the length of sentences.

    python -m benchmarks.speed.bracketing TEXT... [--sentences FILE] [--lengths N...] [--plot FILE] [--json FILE]

TEXT are files to learn from: bracketed trees or lines of word/tag, plain or gzip. Learning is measured in a process of
its own, reading included, from all of the text and, with every second sentence of it, from half. The native call is
`Bracketer.bracket_all` on the sentences of FILE (default: of the first text) of up to 60 words, the best of five times,
with the bracketer of each amount of text, since its cost must not depend on that. Sentences of other lengths are cut
from these sentences in a row, without punctuation; beyond 60 words those of the metric are bracketed in pieces. The
plot needs matplotlib. All times are CPU seconds of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.bracketing import Bracketer, SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation

VARIANTS = ("paper", "default")


def learn(variant: str, paths: list[Path], every: int) -> bytes:
    """A bracketer from every second, or third, ... sentence of files, as bytes."""
    return SpectralBracketer.variant(variant).fit(lambda: islice(read_tagged(paths), 0, None, every)).to_bytes()


def seconds(bracketer: Bracketer, sentences: list[TaggedSentence], repeats: int = 5) -> float:
    """CPU seconds of the native call, the best of some times."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        bracketer.bracket_all(sentences)
        times.append(time.process_time() - start)
    return min(times)


def words_of(sentence: TaggedSentence) -> list[tuple[str, str]]:
    return [pair for pair in zip(*sentence, strict=True) if not is_punctuation(pair[1], pair[0])]


def of_length(sentences: Iterable[TaggedSentence], n: int, count: int = 20) -> list[TaggedSentence]:
    """Sentences of n words, cut from running text without punctuation."""
    text = list(islice(chain.from_iterable(map(words_of, sentences)), n * count))
    return [TaggedSentence(*zip(*text[k : k + n], strict=True)) for k in range(0, len(text) - n + 1, n)]


def measured(
    variant: str, every: int, paths: list[Path], tested: list[TaggedSentence]
) -> tuple[Bracketer, measure.Row]:
    """A bracketer learned from every so many sentences, and what learning and bracketing cost."""
    measure.progress(f"{variant}: every {every}. sentence")
    cost = measure.in_child(learn, variant, paths, every)
    bracketer = Bracketer.from_bytes(cost.result)
    n_words = sum(len(words_of(sentence)) for sentence in tested)
    return bracketer, {
        "variant": variant,
        "text": f"1/{every}",
        "learning, CPU s": cost.seconds,
        "peak MB": cost.peak_mb,
        "bracketer, MB": len(cost.result) / 1e6,
        "sentences / s": len(tested) / seconds(bracketer, tested),
        "words / sentence": n_words / len(tested),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("text", type=Path, nargs="+", metavar="TEXT")
    arguments.add_argument("--sentences", type=Path, metavar="FILE")
    lengths = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150]
    arguments.add_argument("--lengths", type=int, nargs="+", default=lengths, metavar="N")
    arguments.add_argument("--plot", type=Path, metavar="FILE", help="draw the growth to this file (.svg, .png)")
    args = arguments.parse_args()
    measure.check_plot(arguments, args.plot)
    running = list(islice(read_tagged(args.sentences or args.text[0]), 3_000))
    tested = [sentence for sentence in running if len(words_of(sentence)) <= 60]
    bracketers = [measured(variant, every, args.text, tested) for variant in VARIANTS for every in (2, 1)]
    whole = dict(zip(VARIANTS, (bracketer for bracketer, row in bracketers if row["text"] == "1/1"), strict=True))
    growth = []
    for n in args.lengths:
        measure.progress(f"{n} words")
        cut = of_length(running, n)
        growth.append({"words": n, **{name: 1e6 * seconds(each, cut) / len(cut) for name, each in whole.items()}})
    if args.plot:
        measure.plot(growth, args.plot, "CPU microseconds / sentence", y_scale="log")
    tables = {"Learning, and the native call": [row for _, row in bracketers], "Microseconds a sentence": growth}
    measure.report(tables, args.json)


if __name__ == "__main__":
    main()
