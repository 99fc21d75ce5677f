"""`spacy-lpcfg serve`: serve a page on this machine to try models."""

from contextlib import suppress
from typing import Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, reporting_errors
from spacy_lpcfg.components.cli.shared.pipelines import find_parser_or_bracketer, load_pipeline
from spacy_lpcfg.components.cli.shared.serving import listening, serve_until_interrupted

_WARM_UP = ("It rained.", ") the ( of ) $ 's (")  # a sentence, and what few grammars have a tree for


@reporting_errors
def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Models to choose from on the page: pipelines, or en. [default: en]"),
    ] = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, max=100, help="Number of trees to show for each sentence.")
    ] = 5,
    port: options.Port = 8000,
) -> None:
    """Serve a page to try a model in the browser.

    The page shows the tree of a sentence, alternatives, posteriors and surprisal. Only this machine can open the page,
    which loads nothing from elsewhere and answers no other site. Ctrl-C ends it.

    \b
    Example:
        spacy-lpcfg serve
        spacy-lpcfg serve model/ --port 8080
        spacy-lpcfg serve en en-fast
    """
    from spacy_lpcfg.components.serve.demo_page import DemoModels, DemoPage
    from spacy_lpcfg.components.serve.demo_server import DemoServer

    pages = {}
    for model in dict.fromkeys(models or ["en"]):
        nlp = load_pipeline(model)
        parser = find_parser_or_bracketer(nlp)
        pages[model] = DemoPage(nlp, parser, n_best=n_best)
    server = listening(port, lambda: DemoServer(port, DemoModels(pages), models=list(pages)))
    with busy("preparing the page"):  # reads what the first texts would wait for: tables of models, libraries that draw
        for page in pages.values():
            for text in _WARM_UP:
                with suppress(ValueError):  # which the page says of any text
                    page(text)
    serve_until_interrupted(server, "The page is")
