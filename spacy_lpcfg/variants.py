"""Variants of learners: the defaults, and the settings of papers.

A variant is a set of values of settings, each of which can still be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from spacy_lpcfg.checks import shown

DEFAULT, PAPER = "default", "paper"
Variant = TypeVar("Variant", bound="Variants")


class Variants:
    """A base class for dataclasses of settings, whose instances can be created with the settings of a paper.

    papers (mapping, of the class): Settings of each paper, by its year, that differ from the defaults; sizes that a
        paper varies, such as the number of states, are not included.
    """

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @classmethod
    def variants(cls) -> dict[str, Mapping[str, Any]]:
        """Return the settings of each variant that differ from the defaults.

        The variants are "default", the year of each paper, and "paper", which is the latest paper.
        """
        return {DEFAULT: {}, **({PAPER: cls.papers[max(cls.papers)]} if cls.papers else {}), **cls.papers}

    @classmethod
    def variant(cls: type[Variant], variant: str | int = DEFAULT, /, **settings: Any) -> Variant:
        """Create an instance with the settings of a variant, such as those of a paper.

        variant (str or int): "default", the year of a paper such as 2014, or "paper" for the latest paper.
        settings (Any): Values of single settings, which override the variant.
        RAISES (ValueError): If there is no such variant, or the class refuses the value of a setting.
        """
        variants = cls.variants()
        if str(variant) not in variants:
            raise ValueError(
                f"Expected a variant of {cls.__name__}, one of {', '.join(map(repr, variants))}; got {shown(variant)}."
            )
        return cls(**{**variants[str(variant)], **settings})
