"""The variants of a learner: its own settings, and those of the papers that it is from.

A variant only names values of settings. Any of them can be changed, as those of the default can.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from spacy_lpcfg.checks import shown

DEFAULT, PAPER = "default", "paper"
Variant = TypeVar("Variant", bound="Variants")


class Variants:
    """A dataclass of settings, all of which have defaults, that can be those of a paper.

    papers (mapping, of the class): by the year of each paper, the settings that differ from the defaults; sizes that a
        paper tries several of, such as the number of states, are not among them.
    """

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @classmethod
    def variants(cls) -> dict[str, Mapping[str, Any]]:
        """The settings of each variant: "default", "paper", which is the last paper, and the years of all."""
        return {DEFAULT: {}, **({PAPER: cls.papers[max(cls.papers)]} if cls.papers else {}), **cls.papers}

    @classmethod
    def variant(cls: type[Variant], variant: str | int = DEFAULT, /, **settings: Any) -> Variant:
        """Returns the settings of a variant, by its name or year; `settings` change single ones.

        RAISES (ValueError): For a variant that there is not.
        """
        variants = cls.variants()
        if str(variant) not in variants:
            raise ValueError(
                f"Expected a variant of {cls.__name__}, one of {', '.join(map(repr, variants))}; got {shown(variant)}."
            )
        return cls(**{**variants[str(variant)], **settings})
