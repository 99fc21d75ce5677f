"""The extension attributes of Docs, Spans and Tokens, such as `doc._.constituency`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_lpcfg.components.doc.boundaries import token_boundary
from spacy_lpcfg.components.doc.complexity import doc_complexity
from spacy_lpcfg.components.doc.phrases import doc_clauses, doc_phrases
from spacy_lpcfg.components.doc.simple_clauses import doc_simple_clauses
from spacy_lpcfg.components.doc.surprisal import surprisal_of
from spacy_lpcfg.components.doc.view import doc_constituency, span_constituency

Getters = Mapping[str, Callable[[Any], Any]]

PREFIX = "lpcfg_"
_TAKEN = (
    "Extensions that are set already stay as they are: {}. Those of spacy-lpcfg have other names instead: {}. They "
    "have the usual ones if you give other names to yours."
)


def register_extensions() -> None:
    """Register all extension attributes that read trees, such as `doc._.constituency` and benepar's `span._.labels`.

    A name that another package has set gets the prefix `PREFIX`, with a warning. The getters read the trees at the key
    `key_of(doc)` of `doc.spans`, `"constituents"` if there are several; nothing is stored twice. benepar refuses to
    share names: to have both in one process, import benepar first.
    """
    of_trees = {
        "phrases": _phrases,
        "clauses": doc_clauses,
        "simple_clauses": doc_simple_clauses,
        "complexity": doc_complexity,
    }
    register_getters(
        {
            Doc: {"constituency": doc_constituency, **of_trees},
            Span: {**_SPAN_GETTERS, "probability": span_probability, **of_trees},
            Token: {**_TOKEN_GETTERS, "surprisal": surprisal_of, "boundary": token_boundary},
        }
    )


def register_surprisal() -> None:
    """Register `token._.surprisal` alone, for pipelines without trees."""
    register_getters({Token: {"surprisal": surprisal_of}})


def register_getters(of_class: Mapping[type[Doc] | type[Span] | type[Token], Getters]) -> None:
    """Register getters of extension attributes; getters that are registered already are skipped.

    of_class (mapping of class to mapping of str to callable): For each of Doc, Span and Token the getters by name.

    A name that another package has registered stays as it is, with a warning; the getter gets the name `PREFIX` + name.
    """
    taken = [
        f"{kind.__name__}._.{name}"
        for kind, getters in of_class.items()
        for name, getter in getters.items()
        if not _register(kind, name, getter)
    ]
    if taken:
        prefixed = [name.replace("._.", f"._.{PREFIX}") for name in taken]
        warnings.warn(_TAKEN.format(", ".join(taken), ", ".join(prefixed)), stacklevel=3)


def _register(kind: Any, name: str, getter: Callable[[Any], Any]) -> bool:
    """Register a getter under `name`; if the name is taken, register it under `PREFIX` + name, and return False."""
    for candidate in (name, PREFIX + name):
        if not kind.has_extension(candidate):
            kind.set_extension(candidate, getter=getter)
            return candidate == name
        if kind.get_extension(candidate)[2] is getter:
            return True
    return True  # somebody has set both names


# As in benepar -----------------------------------------------------------------------------------


def span_labels(span: Span) -> tuple[str, ...]:
    """Return the labels of a constituent, outermost first: `span._.labels`, as in benepar.

    RETURNS (tuple of str): The labels; () for a word that has only its tag, and for white space.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    return node.labels if node else ()


def span_parse_string(span: Span) -> str:
    """Return a constituent as a bracketed tree such as "(NP (DT The) (NN time))": `span._.parse_string`, as in benepar.

    RETURNS (str): The tree on one line; "" for white space.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    return node.bracketed if node else ""


def span_probability(span: Span) -> float | None:
    """Return the posterior probability of a constituent with the Span's label: `span._.probability`.

    A Span without a label, or with a label that the constituent lacks, has the probability of the outermost label; a
    word without labels has the probability of its tag.

    RETURNS (float or None): The probability; None if unknown.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    return node.label_probability_of(span.label_) if node else None


def span_constituents(span: Span) -> Iterator[Span]:
    """Yield a constituent and all nodes below it as Spans, in pre-order: `span._.constituents`, as in benepar.

    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    return iter([span.doc[n.start : n.end] for n in node.nodes()] if node else [])


def span_children(span: Span) -> Iterator[Span]:
    """Yield the children of a constituent as Spans, from left to right: `span._.children`, as in benepar.

    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    return iter([span.doc[n.start : n.end] for n in node.children] if node else [])


def span_parent(span: Span) -> Span | None:
    """Return the parent of a constituent as a Span: `span._.parent`, as in benepar.

    RETURNS (Span or None): The parent; None for the root of the tree, and for white space.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    node = span_constituency(span)
    above = node.parent if node else None
    return span.doc[above.start : above.end] if above else None


def _of_token(getter: Callable[[Span], Any], token: Token) -> Any:
    return getter(token.doc[token.i : token.i + 1])


_SPAN_GETTERS: dict[str, Callable[[Span], Any]] = {
    "constituency": span_constituency,
    "labels": span_labels,
    "parse_string": span_parse_string,
    "constituents": span_constituents,
    "children": span_children,
    "parent": span_parent,
}
_TOKEN_GETTERS = {name: partial(_of_token, getter) for name, getter in _SPAN_GETTERS.items()}


def _phrases(doclike: Doc | Span) -> partial[Any]:
    return partial(doc_phrases, doclike)
