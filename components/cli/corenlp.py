"""`spacy-lpcfg corenlp`: serve clients of CoreNLP."""

from typing import Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, reporting_errors
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.serving import listening, serve_until_interrupted


@reporting_errors
def corenlp(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or name of a pipeline.")] = "en",
    port: options.Port = 9000,
    host: Annotated[str, typer.Option(help="The address to listen at, 0.0.0.0 for all.")] = "127.0.0.1",
    workers: Annotated[int, typer.Option(min=1, max=1024, help="Number of processes that answer.")] = 1,
) -> None:
    """Serve clients of CoreNLP, in place of its server.

    Clients get tokens, sentences, tags and trees, and matches of Tregex patterns.

    With --host, other machines can connect. There is no password, so do that in a container, or behind a server that
    asks for one. Ctrl-C ends it.

    \b
    Example:
        spacy-lpcfg corenlp
        spacy-lpcfg corenlp en-fast --host 0.0.0.0 --workers 4
    """
    from spacy_lpcfg.components.serve.corenlp import CoreNLP
    from spacy_lpcfg.components.serve.corenlp_server import CoreNLPServer

    nlp = load_pipeline(model)
    answers = CoreNLP(nlp, find_parser(nlp))
    server = listening(port, lambda: CoreNLPServer(port, answers, host))
    with busy("preparing the answers"):
        answers.annotate("It rained.", {})
    serve_until_interrupted(server, "CoreNLP's clients are answered", workers)
