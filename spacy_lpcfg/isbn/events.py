"""Training data of a network: the decisions of derivations as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.arrays import offsets, ranges
from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.isbn.relations import NONE, ROOT, Relations, codes, related, walk
from spacy_lpcfg.isbn.transitions import PROJECT, SHIFT, Transition, derive
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary, mask_of
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class DecisionEvents:
    """Training data: the decisions of derivations, and the inputs of the network at each position; n positions in all.

    A sequence is the derivation of one tree, and a position is one of its transitions, with up to three decisions: the
    action, the tag and the word. The alternatives of a decision are its outcomes, a range of ids (see `vocabulary`).

    sequence_offsets (int64, (n_sequences + 1,)): The first position of each sequence, and n at the end.
    latent (int32, (n, n_latent)): For each latent relation an earlier position of the same sequence, relative to the
        beginning of the sequence; -1 for none.
    row_offsets (int64, (n + 1,)), rows (int32): The input rows of position i, which are rows of
        `Network.decision_weights`, are `rows[row_offsets[i]:row_offsets[i + 1]]`.
    choice_offsets (int64, (n + 1,)), choices (int32, (n_choices, 4)): The decisions of position i are rows
        `choice_offsets[i]:choice_offsets[i + 1]` of `choices`. Columns are the first and the end of the range of
        outcomes, the row of `masks` or -1 for no mask, and the chosen outcome.
    masks (uint8, (n_masks, size)): Whether each outcome of a range is allowed.
    """

    sequence_offsets: np.ndarray
    latent: np.ndarray
    row_offsets: np.ndarray
    rows: np.ndarray
    choice_offsets: np.ndarray
    choices: np.ndarray
    masks: np.ndarray

    @property
    def n_sequences(self) -> int:
        return len(self.sequence_offsets) - 1

    @property
    def n_positions(self) -> int:
        return len(self.latent)

    def select(self, sequences: Sequence[int] | np.ndarray) -> DecisionEvents:
        """Return some of the sequences, in the given order.

        sequences (sequence of int): Indices of the sequences.
        """
        selected = np.asarray(sequences, dtype=np.int64)
        sizes = np.diff(self.sequence_offsets)[selected]
        positions = ranges(self.sequence_offsets[selected], sizes)
        n_rows, n_choices = np.diff(self.row_offsets)[positions], np.diff(self.choice_offsets)[positions]
        return DecisionEvents(
            sequence_offsets=offsets(sizes),
            latent=self.latent[positions],
            row_offsets=offsets(n_rows),
            rows=self.rows[ranges(self.row_offsets[positions], n_rows)],
            choice_offsets=offsets(n_choices),
            choices=self.choices[ranges(self.choice_offsets[positions], n_choices)],
            masks=self.masks,
        )

    @classmethod
    def join(cls, batches: Sequence[DecisionEvents]) -> DecisionEvents:
        """Concatenate the sequences of several batches.

        batches (sequence of DecisionEvents): At least one; with the same relations and masks.
        """

        def joined(name: str) -> np.ndarray:
            return offsets(np.concatenate([np.diff(getattr(batch, name)) for batch in batches]))

        return cls(
            sequence_offsets=joined("sequence_offsets"),
            latent=np.concatenate([batch.latent for batch in batches]),
            row_offsets=joined("row_offsets"),
            rows=np.concatenate([batch.rows for batch in batches]),
            choice_offsets=joined("choice_offsets"),
            choices=np.concatenate([batch.choices for batch in batches]),
            masks=batches[0].masks,
        )


def events_of(trees: Iterable[Tree], vocabulary: NetworkVocabulary, relations: Relations) -> DecisionEvents:
    """Convert trees to training data; trees with an unknown label or tag are left out.

    trees (iterable of Tree): Normalized trees.
    vocabulary (NetworkVocabulary): The labels, tags and words of the network.
    relations (Relations): The relations of the network.
    """
    batches = [_Reader(vocabulary, relations).events()]
    for shard in in_batches(trees, _SHARD_SIZE):
        reader = _Reader(vocabulary, relations)
        for tree in shard:
            reader.read(derive(tree))
        batches.append(reader.events())
    return DecisionEvents.join(batches)


_SHARD_SIZE = 2_000  # trees that are collected in lists before conversion to arrays


class _Reader:
    """A builder of `DecisionEvents` from derivations."""

    def __init__(self, vocabulary: NetworkVocabulary, relations: Relations) -> None:
        self.vocabulary = vocabulary
        self.n_rows, self.n_actions, self.first_word = vocabulary.n_rows, vocabulary.n_actions, vocabulary.first_word
        self.word_offsets = vocabulary.word_offsets.tolist()
        self.labels = {label: PROJECT + i for i, label in enumerate(vocabulary.labels)}
        self.tags = {tag: i for i, tag in enumerate(vocabulary.tags)}
        self.latent_codes = codes(relations.latent).tolist()
        self.decision_codes = codes(relations.decisions).tolist()
        self.lengths: list[int] = []
        self.latent: list[int] = []
        self.rows: list[int] = []
        self.n_rows_of: list[int] = []
        self.choices: list[int] = []
        self.n_choices_of: list[int] = []

    def read(self, transitions: Sequence[Transition]) -> None:
        """Add a derivation, unless it has an unknown label or tag."""
        known = {SHIFT: self.tags, PROJECT: self.labels}
        if any(label not in known[kind] for kind, label, _ in transitions if kind in known):
            return
        actions = [self.labels[label] if kind == PROJECT else kind for kind, label, _ in transitions]
        rows: list[list[int]] = []
        n_words = 0
        for transition, action, (stack, previous, last_shift) in zip(transitions, actions, walk(actions), strict=True):
            self.latent += related(stack, previous, last_shift, self.latent_codes)
            n_rows, n_choices = len(self.rows), len(self.choices)
            for r, t in enumerate(related(stack, previous, last_shift, self.decision_codes)):
                if t != NONE:
                    first = r * self.n_rows
                    self.rows += [first + row for row in rows[t]]
            if stack[0].label != ROOT:
                self.choices += 0, self.n_actions, mask_of(stack[0].label, stack[1].label), action
            rows_of_position = [action]
            if action == SHIFT:
                rows_of_position += self._shift(transition, n_words == 0)
                n_words += 1
            rows.append(rows_of_position)
            self.n_rows_of.append(len(self.rows) - n_rows)
            self.n_choices_of.append((len(self.choices) - n_choices) // 4)
        self.lengths.append(len(transitions))

    def _shift(self, transition: Transition, first: bool) -> list[int]:
        """Add the decisions of a Shift (tag and word); return the input rows of tag, word and signatures."""
        vocabulary, tag = self.vocabulary, self.tags[transition.label]
        word = vocabulary.outcome_of(tag, transition.word, first)
        self.choices += self.n_actions, self.first_word, NONE, self.n_actions + tag
        start, end = self.word_offsets[tag], self.word_offsets[tag + 1]
        if end > start + 1:
            self.choices += start, end, NONE, word
        return [self.n_actions + tag, word, *vocabulary.signature_rows(tag, transition.word, first)]

    def events(self) -> DecisionEvents:
        return DecisionEvents(
            sequence_offsets=offsets(np.array(self.lengths, dtype=np.int64)),
            latent=np.array(self.latent, dtype=np.int32).reshape(-1, len(self.latent_codes)),
            row_offsets=offsets(np.array(self.n_rows_of, dtype=np.int64)),
            rows=np.array(self.rows, dtype=np.int32),
            choice_offsets=offsets(np.array(self.n_choices_of, dtype=np.int64)),
            choices=np.array(self.choices, dtype=np.int32).reshape(-1, 4),
            masks=self.vocabulary.masks,
        )
