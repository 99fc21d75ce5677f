"""A pipeline component that calls methods of a parser on each Doc, so that worker processes compute the results too.

Importing this module registers its factory.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_lpcfg.components.doc.pictures import ask

FACTORY = "lpcfg_cli_questions"
KEY = "lpcfg_cli_answers"
"""Key of `doc.user_data` for the results: a dict from the name of each method to a list with an item per sentence.

The item of a sentence without words is None.
"""


class Questions:
    """Pipeline component that calls methods of a parser on each Doc, and stores the results in `doc.user_data`.

    component (ParsingPipe): The parser.
    questions (dict of str to dict): The keyword arguments, by the name of the method to call; the Doc is always the
        first argument.
    """

    def __init__(self, component: Any, questions: dict[str, dict[str, Any]]) -> None:
        self.component = component
        self.questions = questions

    def __call__(self, doc: Doc) -> Doc:
        doc.user_data[KEY] = {
            name: [
                None if answer is None else _PLAIN[name](answer)
                for answer in ask(self.component, name, doc, **arguments)
            ]
            for name, arguments in self.questions.items()
        }
        return doc


@Language.factory(FACTORY)
def make_questions(nlp: Language, name: str, component: str, questions: dict[str, dict[str, Any]]) -> Questions:
    """Create the component `Questions`; `component` is the name of the parser in the pipeline `nlp`."""
    return Questions(nlp.get_pipe(component), questions)


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


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "entropies": float,
    "n_best": _plain_n_best,
    "posteriors": _plain_posteriors,
    "samples": lambda trees: list(map(_plain_tree, trees)),
    "surprisals": lambda bits: list(map(float, bits)),
}
