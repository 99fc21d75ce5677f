"""The torch network for fine-tuning: an encoder, and a classifier of spans and tags over its word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from spacy_lpcfg.evidence.classifier import N_CASES, SpanClassifier
from spacy_lpcfg.evidence.gradients import TAG_WEIGHT, Example
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.pretrained.examples import Sentence
from spacy_lpcfg.evidence.pretrained.weights import POSITIONS, PROJECTION, WORDS, EncoderWeights
from spacy_lpcfg.parsing.evidence import span_bounds

POST, HIDDEN = 512, 250  # units of a fence post, and of hidden layers
DROPPED = 0.1
UNSEEN = -1e4  # score of padding, before the softmax


class Batch(NamedTuple):
    """A batch of sentences as int64 tensors: padded word pieces, and indices over the words of all sentences.

    pieces, mask (Tensor, (batch, length)): The ids of word pieces, padded with 0; and the mask, 1 for pieces and 0 for
        padding.
    words (Tensor, (n_words,)): For each word of all sentences the index of its last piece in the flattened `pieces`.
    cases (Tensor, (n_words,)): The class of letter case of each word.
    before, after (Tensor, (n_posts,)): The index of the word before and after each fence post (position between words);
        `n_words` if there is none.
    starts, ends (Tensor, (n_spans,)): The fence posts around each span, in the order of `span_bounds`, one sentence
        after the other.
    """

    pieces: Tensor
    mask: Tensor
    words: Tensor
    cases: Tensor
    before: Tensor
    after: Tensor
    starts: Tensor
    ends: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sentence], cases: Sequence[np.ndarray]) -> Batch:
        n_words = sum(len(sentence.last) for sentence in sentences)
        pieces = np.zeros((len(sentences), max(len(sentence.pieces) for sentence in sentences)), np.int64)
        mask = np.zeros_like(pieces)
        flat: list[tuple[np.ndarray, ...]] = []
        first_word = first_post = 0
        for row, (sentence, case) in enumerate(zip(sentences, cases, strict=True)):
            pieces[row, : len(sentence.pieces)], mask[row, : len(sentence.pieces)] = sentence.pieces, 1
            n = len(sentence.last)
            words = np.arange(first_word, first_word + n)
            starts, ends = span_bounds(n)
            last = sentence.last + row * pieces.shape[1]
            before, after = np.append(n_words, words), np.append(words, n_words)
            flat.append((last, case, before, after, starts + first_post, ends + first_post))
            first_word, first_post = first_word + n, first_post + n + 1
        arrays = (pieces, mask, *map(np.concatenate, zip(*flat, strict=True)))
        return cls(*map(torch.from_numpy, arrays))


class TorchEncoder(nn.Module):
    """An encoder of BERT's family as a torch module.

    The word embeddings are not trained, since their gradient would take a fifth of the time.

    given (EncoderWeights): The initial weights.
    """

    def __init__(self, given: EncoderWeights) -> None:
        super().__init__()
        self.given = given
        self.dropout: nn.Module = nn.Identity()
        self.table = nn.ParameterDict(
            {
                name.replace(".", "/"): nn.Parameter(torch.tensor(weight), requires_grad=name != WORDS)
                for name, weight in given.arrays.items()
            }
        )
        self.width = len(self.parameter(f"encoder.layer.{given.n_layers - 1}.output.LayerNorm.bias"))

    def forward(self, pieces: Tensor, mask: Tensor) -> Tensor:
        """Return the last hidden states, shape (batch, length, width), of word pieces, shape (batch, length).

        pieces (Tensor of int64): The ids of the word pieces.
        mask (Tensor of int64): 1 for word pieces and 0 for padding, of the same shape.
        """
        words, places = self.parameter(WORDS), self.parameter(POSITIONS)
        x = self.norm(F.embedding(pieces, words) + places[: pieces.shape[1]], "embeddings")
        if f"{PROJECTION}.weight" in self.given.arrays:
            x = F.linear(x, *self.weights(PROJECTION))
        unseen = (1 - mask[:, None, None].to(x.dtype)) * UNSEEN
        for i in range(self.given.n_layers):
            x = self.layer(x, unseen, f"encoder.layer.{i}")
        return x

    def tuned(self) -> EncoderWeights:
        """Return a copy of the current weights."""
        arrays = {name: self.parameter(name).detach().numpy().copy() for name in self.given.arrays}
        return replace(self.given, arrays=arrays)

    def parameter(self, name: str) -> Tensor:
        return self.table[name.replace(".", "/")]

    def weights(self, name: str) -> tuple[Tensor, Tensor]:
        return self.parameter(f"{name}.weight"), self.parameter(f"{name}.bias")

    def norm(self, x: Tensor, name: str) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], *self.weights(f"{name}.LayerNorm"), self.given.epsilon)

    def layer(self, x: Tensor, unseen: Tensor, name: str) -> Tensor:
        parts = [self.weights(f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
        heads = F.linear(x, torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts]))
        heads = heads.view(*x.shape[:2], 3, self.given.n_heads, self.width // self.given.n_heads).permute(2, 0, 3, 1, 4)
        context = attention(heads[0], heads[1], heads[2], unseen).transpose(1, 2).flatten(2)
        x = self.residual(x, context, f"{name}.attention.output")
        inner = F.gelu(F.linear(x, *self.weights(f"{name}.intermediate.dense")))
        return self.residual(x, inner, f"{name}.output")

    def residual(self, x: Tensor, inner: Tensor, name: str) -> Tensor:
        return self.norm(x + self.dropout(F.linear(inner, *self.weights(f"{name}.dense"))), name)


def attention(queries: Tensor, keys: Tensor, values: Tensor, unseen: Tensor) -> Tensor:
    """Return scaled dot-product attention; torch's own function is ten times slower backward, in bfloat16 on a CPU.

    queries, keys, values (Tensor, (batch, n_heads, length, head_width)): The inputs.
    unseen (Tensor, (batch, 1, 1, length)): Added to the scores: 0 for pieces, `UNSEEN` for padding.
    """
    scores = queries @ keys.transpose(-1, -2) * queries.shape[-1] ** -0.5 + unseen
    return scores.softmax(-1, dtype=torch.float32).to(values.dtype) @ values


class Dropout(nn.Module):
    """Dropout with random bytes, which takes half the time of torch's own on a CPU; active in training only."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.rng = rng

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        kept = torch.from_numpy(self.rng.integers(0, 256, x.shape, np.uint8)) >= 256 * DROPPED
        return x * (kept.to(x.dtype) / (1 - DROPPED))


class TorchClassifier(nn.Module):
    """Classifier of spans and tags over word vectors and classes of letter case.

    width (int): Number of dimensions of word vectors.
    labels (Labels): The chains and tags to predict.
    dropout (Dropout): The dropout of words, fence posts (positions between words) and hidden units.
    """

    def __init__(self, width: int, labels: Labels, dropout: Dropout) -> None:
        super().__init__()
        self.cases = nn.Embedding(N_CASES, width)
        self.posts = nn.Linear(width, POST)
        self.hidden = nn.Linear(POST, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.chains = nn.Linear(HIDDEN, 1 + len(labels.chains))
        self.tag_hidden = nn.Linear(width, HIDDEN)
        self.tag_norm = nn.LayerNorm(HIDDEN)
        self.tags = nn.Linear(HIDDEN, len(labels.tags))
        self.dropout, self.labels = dropout, labels
        nn.init.normal_(self.cases.weight, std=0.02)

    def forward(self, vectors: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the logits of all spans, (n_spans, 1 + n_chains), and of all words, (n_words, n_tags).

        The first column of spans is "no bracket".

        vectors (Tensor of float32, (n_words, width)): The word vectors of the batch.
        batch (Batch): The indices of words, fence posts and spans.
        """
        words = self.dropout(vectors + self.cases(batch.cases))
        tags = self.tags(F.relu(self.tag_norm(self.tag_hidden(words))))
        halves = torch.cat([self.posts(words), words.new_zeros(1, POST)])  # 0 outside of the sentence
        before, after = halves[:, : POST // 2], halves[:, POST // 2 :]
        posts = torch.cat([F.embedding(batch.before, before), F.embedding(batch.after, after)], 1)
        # the hidden layer is linear, so that it is applied to posts, which are fewer than spans
        posts = F.linear(self.dropout(posts), self.hidden.weight)
        spans = F.embedding(batch.ends, posts) - F.embedding(batch.starts, posts) + self.hidden.bias
        return self.chains(self.dropout(F.relu(self.norm(spans)))), tags

    @torch.no_grad()
    def frozen(self) -> SpanClassifier:
        """Convert to a `SpanClassifier` for parsing; the linear maps to fence posts and to hidden units become one."""
        halves = self.hidden.weight.split(POST // 2, 1)
        weights, biases = self.posts.weight.split(POST // 2), self.posts.bias.split(POST // 2)
        (before, after), (before_bias, after_bias) = (
            [half @ part for half, part in zip(halves, parts, strict=True)] for parts in (weights, biases)
        )
        outputs, output_bias = (x[1:] - x[:1] for x in (self.chains.weight, self.chains.bias))
        tensors = {
            "cases": self.cases.weight,
            "before": before.T,
            "before_bias": before_bias,
            "after": after.T,
            "after_bias": after_bias,
            "span_gain": self.norm.weight,
            "span_shift": self.norm.bias,
            "span_bias": self.hidden.bias,
            "span_outputs": outputs.T,
            "span_output_bias": output_bias,
            "tag_hidden": self.tag_hidden.weight.T,
            "tag_gain": self.tag_norm.weight,
            "tag_shift": self.tag_norm.bias,
            "tag_bias": self.tag_hidden.bias,
            "tag_outputs": self.tags.weight.T,
            "tag_output_bias": self.tags.bias,
        }
        arrays = {name: tensor.numpy().copy() for name, tensor in tensors.items()}
        return SpanClassifier.of(tuple(self.labels.chains), tuple(self.labels.tags), arrays)


class TorchNetwork(nn.Module):
    """An encoder with a classifier over its word vectors.

    weights (EncoderWeights): The initial weights of the encoder.
    labels (Labels): The chains and tags to predict.
    rng (Generator): Source of random numbers for dropout.
    """

    def __init__(self, weights: EncoderWeights, labels: Labels, rng: np.random.Generator) -> None:
        super().__init__()
        self.encoder = TorchEncoder(weights)
        self.encoder.dropout = Dropout(rng)
        self.classifier = TorchClassifier(self.encoder.width, labels, Dropout(rng))

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        states = self.encoder(batch.pieces, batch.mask).flatten(0, 1)
        return self.classifier(F.embedding(batch.words, states), batch)

    def loss(self, examples: Sequence[tuple[Sentence, Example]]) -> Tensor:
        """Return the cross-entropy of spans plus `TAG_WEIGHT` times the cross-entropy of tags, in nats per word."""
        sentences, golds = zip(*examples, strict=True)
        with torch.autocast("cpu", torch.bfloat16):
            spans, tags = self(Batch.of(sentences, [gold.cases for gold in golds]))
        loss = cross_entropy(spans, [gold.spans for gold in golds])
        loss += TAG_WEIGHT * cross_entropy(tags, [gold.tags for gold in golds])
        return loss / len(tags)


def cross_entropy(logits: Tensor, classes: Sequence[np.ndarray]) -> Tensor:
    return F.cross_entropy(logits.float(), torch.from_numpy(np.concatenate(classes)), reduction="sum")
