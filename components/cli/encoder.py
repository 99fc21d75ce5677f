"""`spacy-lpcfg encoder`: convert a pretrained encoder from a hub to a file for `learn parser --encoder`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.files import check_output, read_lines, replacing
from spacy_lpcfg.components.cli.shared.inputs import kind_by_name
from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline
from spacy_lpcfg.components.cli.shared.tree_sources import trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees, read_held_out, read_treebank

if TYPE_CHECKING:
    from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder
    from spacy_lpcfg.evidence.pretrained.hub import HubEncoder
    from spacy_lpcfg.evidence.pretrained.tuning import Tuned
    from spacy_lpcfg.trees import Tree

_PIECES, _EPOCHS = 20_000, 6


_Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", exists=True, file_okay=False, help="Folder of an encoder, as the Hugging Face hub has it."
    ),
]
_Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="File to write.")]
_Text = Annotated[
    list[Path] | None,
    options.file_option("Text or trees whose word pieces are kept; may be given again. [default: keep all]"),
]
_Pieces = Annotated[
    int | None, typer.Option(min=10, help=f"With --text: number of word pieces to keep. [default: {_PIECES}]")
]
_Tune = Annotated[
    list[Path] | None,
    options.file_option("Trees to tune the encoder on; may be given again. [default: do not tune]"),
]
_Dev = Annotated[list[Path] | None, options.file_option("With --tune: other trees, to measure on; may be given again.")]
_Epochs = Annotated[
    int | None, typer.Option(min=1, help=f"With --tune: number of passes over the trees. [default: {_EPOCHS}]")
]


@reporting_errors
def encoder(
    folder: _Folder,
    output: _Output,
    text: _Text = None,
    pieces: _Pieces = None,
    tune: _Tune = None,
    dev: _Dev = None,
    epochs: _Epochs = None,
    seed: options.Seed = 0,
    lang: options.TokenizerLang = "xx",
    tags: options.TreeTags = "fine",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Replace = False,
) -> None:
    """Make a file of a pretrained encoder for `learn parser`.

    FOLDER has config.json, model.safetensors, and tokenizer.json, vocab.txt or a SentencePiece model, of BERT's family:
    BERT, MiniLM, multilingual-e5, XLM-R, DistilBERT, ELECTRA. Or it has an encoder in ONNX, which is taken as it is.

    --text cuts the vocabulary to the word pieces of these files, and to likely ones of the same letters; other words
    are split into smaller pieces. --tune learns the encoder and a classifier of phrases together, in minutes to hours;
    with --dev, F1 of this classifier is printed after each pass over the trees. In the end, weights are rounded to 8
    bits.

    Needs the extra `encoder`; torch is needed only for --tune.

    \b
    Example:
        spacy-lpcfg encoder multilingual-e5-small/ --text es.txt -o es.encoder
        spacy-lpcfg learn parser es.mrg --lang es --encoder es.encoder -o model/
    """
    from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder, exported
    from spacy_lpcfg.trees import normalize

    check_output(output, inputs=[folder, *(text or ()), *(tune or ()), *(dev or ())], force=force)
    _refuse_unused(text, pieces, tune, dev, epochs)
    if _is_onnx(folder, text, tune):
        return _save(PretrainedEncoder.from_folder(folder), output, force=force)
    hub = _read_hub(folder, is_tuned=bool(tune))
    train = list(filter(None, map(normalize, read_treebank(tune or (), skip_bad, dialect, tags))))
    if tune and not train:
        raise no_trees(tune)
    golds = list(filter(None, map(normalize, read_held_out(dev, skip_bad, dialect, tags))))
    cut = hub
    if text:
        words = [*_words(text, lang, skip_bad, dialect), *(word for tree in train for word in tree.words)]
        cut = _cut(hub, words, pieces or _PIECES, text)
    if not train:
        return _save(PretrainedEncoder(exported(cut)), output, force=force)
    cut = replace(cut, card={**cut.card, "tuned on": ", ".join(path.name for path in tune or ())})
    tuned = _tune(cut, train, golds, epochs or _EPOCHS, seed, output, force=force)
    if golds:
        _tell_costs(hub, cut, tuned, golds)


def _is_onnx(folder: Path, text: list[Path] | None, tune: list[Path] | None) -> bool:
    """Return whether a folder has an encoder in ONNX, but no weights in the hub's format.

    RAISES (BadParameter): If such an encoder is to be cut (`text`) or tuned (`tune`), which needs the weights.
    """
    from spacy_lpcfg.evidence.pretrained.file import onnx_in
    from spacy_lpcfg.evidence.pretrained.hub import WEIGHTS

    if (folder / WEIGHTS).is_file() or not onnx_in(folder):
        return False
    if text or tune:
        message = f"'{folder}' has an encoder in ONNX, which is taken as it is"
        raise typer.BadParameter(message, param_hint="--text" if text else "--tune")
    return True


def _read_hub(folder: Path, *, is_tuned: bool) -> "HubEncoder":
    """Read an encoder in the format of the Hugging Face hub, and print its size.

    is_tuned (bool): Whether the encoder will be tuned, which needs torch.
    RAISES (ImportError): If a library to export or tune the encoder is not installed; checked before reading.
    """
    from spacy_lpcfg.evidence.pretrained.hub import read_hub
    from spacy_lpcfg.extras import extra

    extra("onnx", "The export of an encoder", "encoder")
    if is_tuned:
        extra("torch", "The tuning of an encoder", "encoder")
    hub = read_hub(folder)
    tell(f"read {hub.card['name']}: {_megabytes(hub.weights.n_bytes)}, {len(hub.pieces.vocabulary):,} pieces")
    return hub


def _refuse_unused(
    text: list[Path] | None, pieces: int | None, tune: list[Path] | None, dev: list[Path] | None, epochs: int | None
) -> None:
    """Raise BadParameter for --pieces without --text, and for --dev or --epochs without --tune."""
    if pieces is not None and not text:
        raise typer.BadParameter("name the texts whose pieces are kept by --text", param_hint="--pieces")
    if dev and not tune:
        raise typer.BadParameter("a classifier is measured, which learns with --tune alone", param_hint="--dev")
    if epochs is not None and not tune:
        raise typer.BadParameter("name the trees to tune on by --tune", param_hint="--epochs")


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def _words(paths: Sequence[Path], lang: str, skip_bad: bool, dialect: str | None) -> Iterator[str]:
    """Yield the words of treebanks, and the tokens of text files by spaCy's tokenizer of the language `lang`."""
    from spacy_lpcfg.trees import normalize

    tokenizer = cache(lambda: blank_pipeline(lang).tokenizer)  # made once, and not where all files hold trees
    on_error = (lambda _: None) if skip_bad else None
    for path in map(str, paths):
        if kind_by_name(path) == "trees":
            trees = filter(None, map(normalize, trees_of_path(path, on_error, dialect)))
            yield from (word for tree in trees for word in tree.words)
        else:
            for line in progress(read_lines(path), "lines"):
                yield from (token.text for token in tokenizer()(line) if not token.is_space)


def _cut(hub: "HubEncoder", words: Sequence[str], n_pieces: int, paths: Sequence[Path]) -> "HubEncoder":
    """Cut an encoder's vocabulary to the word pieces of given words and other likely pieces; print what this changes.

    hub (HubEncoder): The encoder.
    words (sequence of str): The words of the texts.
    n_pieces (int): The number of pieces to keep.
    paths (sequence of Path): The files of the texts, which the encoder's card names.
    RETURNS (HubEncoder): The encoder with the smaller vocabulary.
    """
    from spacy_lpcfg.evidence.pretrained.cutting import cut_vocabulary

    cut = cut_vocabulary(hub.pieces, words, n_pieces)
    vocabulary = f"{len(cut.ids):,} of {len(hub.pieces.vocabulary):,} pieces"
    names = ", ".join(path.name for path in paths)
    smaller = replace(
        hub,
        weights=hub.weights.of_pieces(cut.ids),
        pieces=hub.pieces.restricted(cut.ids),
        card={**hub.card, "vocabulary": f"{vocabulary}, by {names}"},
    )
    changed, unknown = (f"{100 * n / max(cut.n_words, 1):.2f}%" for n in (cut.n_changed, cut.n_unknown))
    tell(f"kept {vocabulary}: {_megabytes(smaller.weights.n_bytes)}")
    tell(f"of {cut.n_words:,} words, {changed} fall back to other pieces, and {unknown} to the unknown one")
    return smaller


def _tune(
    hub: "HubEncoder",
    train: "Sequence[Tree]",
    golds: "Sequence[Tree]",
    n_epochs: int,
    seed: int,
    output: Path,
    *,
    force: bool,
) -> "Tuned":
    """Tune an encoder together with a classifier on trees, and save both after each epoch.

    hub (HubEncoder): The encoder.
    train (sequence of Tree): The trees to tune on.
    golds (sequence of Tree): The held-out trees on which F1 is printed after each epoch; may be empty.
    n_epochs (int): The number of passes over the trees.
    seed (int): The random seed.
    output (Path): The file to save to.
    force (bool): Whether an existing file may be replaced.
    RETURNS (Tuned): The result of the last epoch.
    """
    from spacy_lpcfg.evidence.pretrained.examples import classifier_f1
    from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder, exported
    from spacy_lpcfg.evidence.pretrained.tuning import tune

    epochs = tune(hub.weights, hub.pieces, train, n_epochs=n_epochs, seed=seed, tell=tell)
    for number, tuned in enumerate(epochs, start=1):
        pretrained = PretrainedEncoder(exported(replace(hub, weights=tuned.weights)), tuned.classifier)
        _save(pretrained, output, force=force or number > 1)
        f1 = f": F1 {classifier_f1(pretrained.encoder, tuned.classifier, golds):.2f}" if golds else ""
        tell(f"epoch {number} of {n_epochs}{f1}")
    return tuned


def _tell_costs(hub: "HubEncoder", cut: "HubEncoder", tuned: "Tuned", golds: "Sequence[Tree]") -> None:
    """Print the model size and the classifier's F1 with all pieces, with the cut pieces, and with 8-bit weights.

    hub, cut (HubEncoder): The original encoder, and the encoder with the cut vocabulary; the same encoder if not cut.
    tuned (Tuned): The tuned weights and classifier.
    golds (sequence of Tree): The held-out trees for F1.
    """
    from spacy_lpcfg.evidence.pretrained.examples import classifier_f1
    from spacy_lpcfg.evidence.pretrained.file import exported
    from spacy_lpcfg.evidence.pretrained.weights import WORDS

    is_cut = cut.pieces is not hub.pieces
    pieces, smaller = "pieces of the texts" if is_cut else "all pieces", replace(cut, weights=tuned.weights)
    steps = [(f"{pieces}, 32 bits", smaller, False), (f"{pieces}, 8 bits", smaller, True)]
    if is_cut:
        whole = replace(tuned.weights, arrays={**tuned.weights.arrays, WORDS: hub.weights.words})
        steps.insert(0, ("all pieces, 32 bits", replace(hub, weights=whole), False))
    for name, step, quantized in steps:
        made = exported(step, quantized=quantized)
        tell(f"{name}: {_megabytes(len(made.model))}, F1 {classifier_f1(made, tuned.classifier, golds):.2f}")


def _save(pretrained: "PretrainedEncoder", output: Path, *, force: bool) -> None:
    data = pretrained.to_bytes()
    with replacing(output, force=force) as file:
        file.write(data)
    tell(f"saved to {output}: {_megabytes(len(pretrained.encoder.model))}, {_megabytes(len(data))} compressed")
