"""A component of the commands' own: what a parser answers is written to the Doc, so that worker processes answer too.

Importing this module registers its factory.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

FACTORY = "lpcfg_cli_answers"
KEY = "lpcfg_cli_answers"
"""Of `doc.user_data`: a dict with a list for each question, which has an item a sentence, None if that has no words."""


class Answers:
    """Asks a component about each Doc, before that parses it.

    component (ParsingPipe): with the methods
    ask (dict of str to dict): names of methods that take a Doc, and the arguments that they get besides
    """

    def __init__(self, component: Any, ask: dict[str, dict[str, Any]]) -> None:
        self.component = component
        self.ask = ask

    def __call__(self, doc: Doc) -> Doc:
        doc.user_data[KEY] = {
            name: [None if answer is None else _PLAIN[name](answer) for answer in self._method(name)(doc, **arguments)]
            for name, arguments in self.ask.items()
        }
        return doc

    def _method(self, name: str) -> Callable[..., list[Any]]:
        method = getattr(self.component, name, None)
        if method is None:
            raise ValueError(f"{self.component.name!r} has no {name.replace('_', '-')}: ask a parser by a grammar")
        return method


@Language.factory(FACTORY, default_config={"ask": {}})
def make_answers(nlp: Language, name: str, component: str, ask: dict[str, dict[str, Any]]) -> Answers:
    """Make the component; settings are those of `Answers`, with the name of the component to ask."""
    return Answers(nlp.get_pipe(component), ask)


# As plain values, which a Doc can be saved with --------------------------------------------------


def _plain_tree(tree: Any) -> dict[str, Any]:
    return {"spans": tree.spans(), "tags": tree.tags}


def _plain_n_best(analyses: Any) -> list[dict[str, Any]]:
    return [
        {
            **_plain_tree(analysis.tree),
            "log_probability": float(analysis.log_probability),
            "probability": float(analysis.probability),
        }
        for analysis in analyses
    ]


def _plain_posteriors(posteriors: Any) -> dict[str, Any]:
    spans = [
        {"start": start, "end": end, "label": label, "score": round(float(p), 6)}
        for (start, end, label), p in posteriors.brackets.items()
    ]
    tags = [{tag: round(float(p), 6) for tag, p in of_word.items()} for of_word in posteriors.tags]
    return {"spans": spans, "tags": tags}


def _plain_samples(trees: Any) -> list[dict[str, Any]]:
    return [_plain_tree(tree) for tree in trees]


def _plain_surprisals(bits: Any) -> list[float]:
    return [float(value) for value in bits]


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "n_best": _plain_n_best,
    "posteriors": _plain_posteriors,
    "samples": _plain_samples,
    "surprisals": _plain_surprisals,
}
