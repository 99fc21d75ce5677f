"""Variants of learners: the defaults, and the settings of papers.

A variant only names values of settings. Any of them can be changed, as those of the default can.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from spacy_lpcfg.checks import shown

DEFAULT, PAPER = "default", "paper"
Variant = TypeVar("Variant", bound="Variants")


class Variants:
    """A base class for dataclasses of settings with defaults, which can be set to those of a paper.

    papers (mapping, of the class): Settings of each paper, by its year, that differ from the defaults; sizes that a
        paper varies, such as the number of states, are not included.
    """

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @classmethod
    def variants(cls) -> dict[str, Mapping[str, Any]]:
        """Return the settings of each variant: "default", "paper" (the latest paper), and the year of each paper."""
        return {DEFAULT: {}, **({PAPER: cls.papers[max(cls.papers)]} if cls.papers else {}), **cls.papers}

    @classmethod
    def variant(cls: type[Variant], variant: str | int = DEFAULT, /, **settings: Any) -> Variant:
        """Create settings from a variant, by its name or year; `settings` override single ones.

        RAISES (ValueError): If there is no such variant.
        """
        variants = cls.variants()
        if str(variant) not in variants:
            raise ValueError(
                f"Expected a variant of {cls.__name__}, one of {', '.join(map(repr, variants))}; got {shown(variant)}."
            )
        return cls(**{**variants[str(variant)], **settings})
