"""Entry point of the console script `spacy-lpcfg`."""

import sys

_INTERRUPTED = 130  # that of a process that Ctrl-C ends


def main() -> None:
    """Run the command line; Ctrl-C while the commands are being imported ends the process without a traceback."""
    try:
        from spacy_lpcfg.components import cli
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    cli.main()
