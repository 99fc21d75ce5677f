"""`spacy-lpcfg serve`: a page on this machine to try a model."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import busy, log, reporting_errors
from spacy_lpcfg.components.cli.pipelines import Component, Model, find_parser_or_bracketer, load_pipeline

if TYPE_CHECKING:
    from spacy_lpcfg.components.demo_page import DemoPage

_WARM_UP = ("It rained.", "? ! ... - ! ?")  # a sentence, and what no treebank's grammar has a tree for


@reporting_errors
def serve(
    model: Model = "en",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 is any that is free.")] = 8000,
    n_best: Annotated[int, typer.Option("--n-best", min=1, max=100, help="Trees of each sentence.")] = 5,
    component: Component = None,
) -> None:
    """Serve a page to type a sentence in, and see its tree, alternatives, posteriors and surprisal.

    Without MODEL it is by the English grammar that comes with the package. Only this machine can open the page, which
    loads nothing from elsewhere and answers no other site. Ctrl-C ends it. It needs
    matplotlib: pip install "spacy-lpcfg[viz]".

    \b
    Example:
        spacy-lpcfg serve
        spacy-lpcfg serve model/ --port 8080
    """
    from spacy_lpcfg.components.demo_page import DemoPage
    from spacy_lpcfg.components.demo_server import DemoServer
    from spacy_lpcfg.extras import extra

    extra("matplotlib", "The page")
    nlp = load_pipeline(model)
    page = DemoPage(nlp, find_parser_or_bracketer(nlp, component), n_best=n_best)
    try:
        server = DemoServer(port, page)
    except OSError as error:
        raise ValueError(f"port {port} is not free ({error}): choose another by --port, or 0 for any") from error
    with server:
        warm_up(page)
        log(f"The page is at {server.url} - Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            log("ended")


def warm_up(page: "DemoPage") -> None:
    """Have the page read what its first texts would wait for: tables of the model, and the libraries that draw."""
    with busy("preparing the page"):
        for text in _WARM_UP:
            with suppress(ValueError):  # which the page says of any text
                page(text)
