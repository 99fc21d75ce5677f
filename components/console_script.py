"""Entry point of the console script `spacy-lpcfg`."""

import sys

_INTERRUPTED = 130  # that of a process that Ctrl-C ends


def main() -> None:
    """Import the commands and run one; Ctrl-C during the import ends it without a traceback."""
    try:
        from spacy_lpcfg.components import cli
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    cli.main()
