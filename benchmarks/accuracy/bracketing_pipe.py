"""Measure the speed of a saved bracketer on one core: its native call on tagged sentences, and nlp.pipe on Docs.

    python -m benchmarks.accuracy.bracketing_pipe MODEL_DIR TREES [--repeats N] [--json FILE]

MODEL_DIR is a folder that spacy.load opens, with a spectral_bracketer in it; of TREES only words and tags are used.
Prints sentences and tokens per CPU second of `Bracketer.bracket_all`, and through nlp.pipe (Docs of one sentence, made
and tagged beforehand), the median of N passes of each by turns, in processes of their own that have bracketed before;
and the most memory that such a process ever held.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import spacy

from benchmarks import measure
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
from spacy_lpcfg.components.training.tagged_text import tagged_doc


def component(nlp: spacy.Language) -> SpectralBracketerPipe:
    """The bracketer of a pipeline, whatever its name."""
    bracketers = [one_pass for _, one_pass in nlp.pipeline if isinstance(one_pass, SpectralBracketerPipe)]
    if not bracketers:
        raise ValueError(f"Expected a pipeline with a spectral_bracketer, got one of {nlp.pipe_names}.")
    return bracketers[0]


def native_pass(model: Path, sentences: list[TaggedSentence]) -> float:
    """CPU seconds of the native call."""
    bracketer = component(spacy.load(model)).bracketer
    assert bracketer is not None
    bracketer.bracket_all(sentences[:10])
    start = time.process_time()
    bracketer.bracket_all(sentences)
    return time.process_time() - start


def pipe_pass(model: Path, sentences: list[TaggedSentence]) -> float:
    """CPU seconds of nlp.pipe."""
    nlp = spacy.load(model)
    docs = [tagged_doc(nlp.vocab, sentence) for sentence in sentences]
    list(nlp.pipe([tagged_doc(nlp.vocab, sentence) for sentence in sentences[:10]]))
    start = time.process_time()
    for _ in nlp.pipe(docs):
        pass
    return time.process_time() - start


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL_DIR")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--repeats", type=int, default=5, metavar="N")
    args = arguments.parse_args()
    sentences = list(read_tagged(args.trees))
    n_tokens = sum(len(sentence.words) for sentence in sentences)
    ways = {"native": native_pass, "nlp.pipe": pipe_pass}
    passes = [
        {name: measure.in_child(run, args.model, sentences) for name, run in ways.items()} for _ in range(args.repeats)
    ]
    rows: list[measure.Row] = []
    for name in ways:
        seconds = statistics.median(one_pass[name].result for one_pass in passes)
        rows.append(
            {
                "way": name,
                "sentences": len(sentences),
                "sentences / s": len(sentences) / seconds,
                "tokens / s": n_tokens / seconds,
                "peak MB": max(one_pass[name].peak_mb for one_pass in passes),
            }
        )
    measure.report({f"Bracketing {args.trees.name} by {args.model.name}": rows}, args.json)


if __name__ == "__main__":
    main()
