"""Fine-tuning of a pretrained encoder on trees, jointly with a classifier of spans and tags, in torch.

A span is represented by the difference of two fence posts, and is classified as a unary chain of labels or as no
bracket (Kitaev and Klein 2018).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.gradients import Example
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.pieces import Pieces
from spacy_lpcfg.evidence.pretrained.examples import Sentence, batches
from spacy_lpcfg.evidence.pretrained.network import TorchNetwork
from spacy_lpcfg.evidence.pretrained.weights import EncoderWeights
from spacy_lpcfg.trees.tree import Tree

_LEAST_COUNT = 5  # of a unary chain of several labels that is a class
_BATCH = 200, 800  # least and most word pieces of a batch
_N_STEPS = 1_500  # with smaller batches of few trees, down to the least
_MOST_PIECES = 512  # of a sentence
_RATE, _CLASSIFIER_RATE, _WARM_UP, _DECAY, _NORM = 1e-4, 1e-3, 0.06, 0.01, 1.0
_EVERY = 50  # steps between two reports of progress
_NO_VECTORS = np.empty((0, 0))  # of examples: the network computes them


class Tuned(NamedTuple):
    """An encoder and a span classifier after an epoch of fine-tuning.

    weights (EncoderWeights): The weights of the encoder.
    classifier (SpanClassifier): The classifier that was trained with the encoder.
    """

    weights: EncoderWeights
    classifier: SpanClassifier


def tune(
    weights: EncoderWeights,
    pieces: Pieces,
    trees: Sequence[Tree],
    *,
    n_epochs: int,
    seed: int = 0,
    tell: Callable[[str], None],
) -> Iterator[Tuned]:
    """Fine-tune an encoder and a span classifier on trees with AdamW; yield both after each epoch.

    Trees of more than 512 word pieces are left out.

    weights (EncoderWeights): The weights to begin with; word embeddings stay as they are.
    pieces (Pieces): The tokenizer of the encoder.
    trees (sequence of Tree): Normalized trees.
    n_epochs (int): Number of epochs, over which the learning rate warms up and then decays linearly.
    seed (int): Seed of the first weights of the classifier, of the order of trees and of dropout.
    tell (callable): Called with a line of text on the progress, every 50 steps.
    YIELDS (Tuned): The weights after each epoch.
    RAISES (ValueError): If there is no tree with a constituent.
    """
    torch.manual_seed(seed)
    labels = Labels.of(trees, _LEAST_COUNT)
    tell(f"{len(trees):,} trees, {len(labels.chains)} chains, {len(labels.tags)} tags")
    model = TorchNetwork(weights, labels, np.random.default_rng(seed))
    training = _Training(model, _examples(trees, pieces, labels), n_epochs, seed, tell)
    for order in training.epochs:
        training.epoch(order)
        yield Tuned(model.encoder.tuned(), model.classifier.frozen())


def _examples(trees: Iterable[Tree], pieces: Pieces, labels: Labels) -> list[tuple[Sentence, Example]]:
    """Return trees as training examples; leave out trees of more than `_MOST_PIECES` word pieces."""
    pairs = ((Sentence.of(tree.words, pieces), tree) for tree in trees)
    return [
        (sentence, labels.example(tree, _NO_VECTORS)) for sentence, tree in pairs if sentence.n_pieces <= _MOST_PIECES
    ]


class _Training:
    """Optimizer, learning-rate schedule and batches of all epochs."""

    def __init__(
        self,
        model: TorchNetwork,
        examples: list[tuple[Sentence, Example]],
        n_epochs: int,
        seed: int,
        tell: Callable[[str], None],
    ) -> None:
        self.model, self.examples, self.tell = model, examples, tell
        rng = random.Random(seed)
        lengths = [sentence.n_pieces for sentence, _ in examples]
        least, most = _BATCH
        size = min(max(sum(lengths) * n_epochs // _N_STEPS, least), most)
        self.epochs = [batches(lengths, size, rng) for _ in range(n_epochs)]
        self.n_steps = sum(map(len, self.epochs))
        groups = []
        for part, rate in ((model.encoder, _RATE), (model.classifier, _CLASSIFIER_RATE)):
            weights = [weight for weight in part.parameters() if weight.requires_grad]
            groups.append({"params": [x for x in weights if x.ndim > 1], "lr": rate, "weight_decay": _DECAY})
            groups.append({"params": [x for x in weights if x.ndim == 1], "lr": rate, "weight_decay": 0.0})
        self.optimizer = torch.optim.AdamW(groups, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.losses: list[float] = []
        self.n_pieces, self.start = 0, time.perf_counter()

    def epoch(self, order: list[list[int]]) -> None:
        """Train for an epoch: take an optimizer step for each batch of indices of examples."""
        self.model.train()
        for batch in order:
            examples = [self.examples[i] for i in batch]
            loss = self.model.loss(examples)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), _NORM)
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad()
            self._report(loss.item(), sum(sentence.n_pieces for sentence, _ in examples))

    def _rate(self, step: int) -> float:
        warm_up = _WARM_UP * self.n_steps
        return min((step + 1) / warm_up, (self.n_steps - step) / (self.n_steps - warm_up))

    def _report(self, loss: float, n_pieces: int) -> None:
        self.losses.append(loss)
        self.n_pieces += n_pieces
        if len(self.losses) % _EVERY == 0:
            speed = self.n_pieces / (time.perf_counter() - self.start)
            mean = np.mean(self.losses[-_EVERY:])
            self.tell(f"step {len(self.losses)} of {self.n_steps}: loss {mean:.3f}, {speed:.0f} pieces a second")
