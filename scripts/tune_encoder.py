"""Tune a pretrained encoder of BERT's kind to find constituents, and export it.

    python scripts/tune_encoder.py HUB_FOLDER TREES... --dev TREES... --output FOLDER [--epochs N] [--seed N]

HUB_FOLDER is as for scripts/export_encoder.py. TREES are treebanks to learn from. The encoder and a classifier of
spans and tags over its word vectors learn together: a span is the difference of two fence posts, and gets a unary chain
of labels or none (Kitaev and Klein 2018). After each epoch FOLDER/epochN is a HUB_FOLDER again, with the classifier
in classifier.bin, and the scores of the best trees by the classifier alone are printed, for the first 400 trees of each
file of --dev. At the end FOLDER/final is the last one, exported, and its scores with weights in 8 bits are printed.

Needs the extra `encoder`. Set OMP_NUM_THREADS=1, since threads wait for each other, and MALLOC_MMAP_THRESHOLD_ and
MALLOC_TRIM_THRESHOLD_ to 10000000000: without them a fifth of the time goes to fresh pages of memory.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from export_encoder import card_of, export, hub_folder, vocabulary
from span_examples import Sentence, batches, best_spans
from span_network import Model
from torch import nn

from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.gradients import Example
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.pieces import WordPieces
from spacy_lpcfg.trees import Tree, normalize, read_trees

LEAST_COUNT = 5  # of a unary chain of several labels that is a class
N_PIECES = 800  # of a batch
MOST_PIECES = 512  # of a sentence
RATE, CLASSIFIER_RATE, WARM_UP, DECAY, NORM = 1e-4, 1e-3, 0.06, 0.01, 1.0
N_DEV = 400  # trees of a file that are parsed after each epoch
EVERY = 50  # steps between two lines of progress
SCORES = {"F1": "evalb_f", "precision": "evalb_p", "recall": "evalb_r", "exact": "complete_match", "tags": "tag_acc"}
NO_VECTORS = np.empty((0, 0))  # of examples: the network computes them

log = partial(print, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hub", type=hub_folder, metavar="HUB_FOLDER")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    arguments.add_argument("--dev", type=Path, nargs="+", default=[], metavar="TREES")
    arguments.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    arguments.add_argument("--epochs", type=int, default=8, metavar="N")
    arguments.add_argument("--seed", type=int, default=0, metavar="N")
    args = arguments.parse_args()
    torch.manual_seed(args.seed)
    trees = read(args.trees)
    labels = Labels.of(trees, LEAST_COUNT)
    log(f"{len(trees):,} trees, {len(labels.chains)} chains, {len(labels.tags)} tags")
    model = Model(args.hub, labels, np.random.default_rng(args.seed))
    pieces = WordPieces(vocabulary(args.hub))
    training = Training(model, examples_of(trees, pieces, labels), args.epochs, args.seed)
    card = {**card_of(args.hub), "tuned on": ", ".join(path.name for path in args.trees)}
    dev = {path.stem: read([path], N_DEV) for path in args.dev}
    for number, order in enumerate(training.epochs, start=1):
        training.epoch(order)
        model.save(args.hub, card, args.output / f"epoch{number}")
        classifier = model.classifier.frozen()
        report(f"epoch {number}", dev, lambda tree: model.vectors(Sentence.of(tree.words, pieces)), classifier)
    export(args.output / f"epoch{args.epochs}", args.output / "final")
    model.classifier.frozen().to_disk(args.output / "final" / "classifier.bin")
    encoder = Encoder.from_folder(args.output / "final")
    report("8 bits", dev, lambda tree: encoder.vectors([tree.words])[0], model.classifier.frozen())


def read(paths: Iterable[Path], most: int | None = None) -> list[Tree]:
    """Return the normalized trees of files, or the first ones."""
    return list(islice((tree for tree in map(normalize, read_trees(paths)) if tree is not None), most))


def examples_of(trees: Iterable[Tree], pieces: WordPieces, labels: Labels) -> list[tuple[Sentence, Example]]:
    """Return the trees as arrays, but for those with more word pieces than encoders can read."""
    pairs = ((Sentence.of(tree.words, pieces), tree) for tree in trees)
    return [
        (sentence, labels.example(tree, NO_VECTORS)) for sentence, tree in pairs if sentence.n_pieces <= MOST_PIECES
    ]


def report(
    title: str, dev: Mapping[str, Sequence[Tree]], vectors: Callable[[Tree], np.ndarray], classifier: SpanClassifier
) -> None:
    """Print the scores of the best trees by a classifier alone.

    title (str): What is said first on each line.
    dev (mapping of str to sequence of Tree): Gold trees by the names of their files.
    vectors (callable): Returns the word vectors of a tree, float32 (n_words, width).
    classifier (SpanClassifier): The classifier of these vectors.
    """
    for name, golds in dev.items():
        tests = []
        for gold in golds:
            evidence = classifier.evidence_of(vectors(gold), gold.words)
            tags = [classifier.tags[tag] for tag in evidence.tags.argmax(1)]
            tests.append(Tree.from_spans(gold.words, tags, best_spans(evidence.spans, classifier.chains)))
        values = evaluate(golds, tests).scores()
        log(f"{title}, {name}: " + ", ".join(f"{score} {values[key]:.2f}" for score, key in SCORES.items()))


class Training:
    """AdamW with a warm-up and a linear decay, over batches of several epochs."""

    def __init__(self, model: Model, examples: list[tuple[Sentence, Example]], n_epochs: int, seed: int) -> None:
        self.model, self.examples = model, examples
        rng = random.Random(seed)
        lengths = [sentence.n_pieces for sentence, _ in examples]
        self.epochs = [batches(lengths, N_PIECES, rng) for _ in range(n_epochs)]
        self.n_steps = sum(map(len, self.epochs))
        groups = []
        for part, rate in ((model.encoder, RATE), (model.classifier, CLASSIFIER_RATE)):
            weights = [weight for weight in part.parameters() if weight.requires_grad]
            groups.append({"params": [x for x in weights if x.ndim > 1], "lr": rate, "weight_decay": DECAY})
            groups.append({"params": [x for x in weights if x.ndim == 1], "lr": rate, "weight_decay": 0.0})
        self.optimizer = torch.optim.AdamW(groups, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.losses: list[float] = []
        self.n_pieces, self.start = 0, time.perf_counter()

    def epoch(self, order: list[list[int]]) -> None:
        """Take a step for each batch."""
        self.model.train()
        for batch in order:
            examples = [self.examples[i] for i in batch]
            loss = self.model.loss(examples)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), NORM)
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad()
            self._log(loss.item(), sum(sentence.n_pieces for sentence, _ in examples))

    def _rate(self, step: int) -> float:
        warm_up = WARM_UP * self.n_steps
        return min((step + 1) / warm_up, (self.n_steps - step) / (self.n_steps - warm_up))

    def _log(self, loss: float, n_pieces: int) -> None:
        self.losses.append(loss)
        self.n_pieces += n_pieces
        if len(self.losses) % EVERY == 0:
            speed = self.n_pieces / (time.perf_counter() - self.start)
            mean = np.mean(self.losses[-EVERY:])
            log(f"step {len(self.losses)} of {self.n_steps}: loss {mean:.3f}, {speed:.0f} word pieces a second")


if __name__ == "__main__":
    main()
