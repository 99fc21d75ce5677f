"""The page of `spacy-lpcfg serve --correct`: a tree as boxes, changed by clicks and keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from spacy_lpcfg.pictures import html_page

TITLE = "Correct trees"
_SCRIPT = Path(__file__).with_name("correction_page.js")
_STYLE = """
#tree { line-height: 1; margin: 1rem 0; overflow-x: auto; white-space: nowrap }
.bracket, .word { border: 1px solid var(--line); border-radius: 6px; display: inline-block; margin: .15rem;
  padding: .15rem; text-align: center; vertical-align: bottom }
.word { border-color: transparent; cursor: pointer; padding: .35rem .25rem }
.word small, .label small { display: block; font-size: .7rem; opacity: .7 }
.label { background: none; border: 0; color: inherit; cursor: pointer; display: block; font: inherit; font-weight: 600;
  width: 100% }
.kept { border-color: #2f8f7a; border-width: 2px }
.selected { background: #2d82b733; outline: 2px solid #2d82b7 }
#tools button, #tools input { font: inherit; margin: .15rem; padding: .25rem .75rem }
#message { min-height: 1.5rem }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 .3rem }
"""
_TOOLS = """
<p id="place"></p>
<div id="tree" tabindex="0" aria-label="Tree"></div>
<div id="tools">
<input id="label" list="labels" size="8" aria-label="Label" spellcheck="false" autocomplete="off">
<button data-do="apply">Relabel, or add <kbd>Enter</kbd></button>
<button data-do="remove">Remove <kbd>x</kbd></button>
<button data-do="keep">Keep <kbd>k</kbd></button>
<button data-do="undo">Undo <kbd>u</kbd></button>
<button data-do="back">Back <kbd>p</kbd></button>
<button data-do="next">Next <kbd>n</kbd></button>
<button data-do="save">Save, next <kbd>s</kbd></button>
</div>
<p id="message" role="status"></p>
<p>Click a label to change its bracket, or a word, and another with Shift, for a new one. The arrows move from bracket
to bracket, with Shift they make the words more or fewer, and <kbd>r</kbd> or <kbd>a</kbd> goes to the label. What you
change or keep stays, and the rest is parsed again.</p>
"""


def correction_page(labels: Sequence[str], n_sentences: int, first: int, token: str, nonce: str) -> str:
    """The page.

    labels (sequence of str): that brackets may have
    first (int): number of the sentence that is shown first
    token (str): that requests of its script have; nonce (str): that the script is run by
    """
    options = "".join(f'<option value="{escape(label)}">' for label in labels)
    settings = json.dumps({"token": token, "n": n_sentences, "first": first}).replace("<", "\\u003c")
    script = f'<script nonce="{nonce}">\nconst SETTINGS = {settings}\n{_SCRIPT.read_text("utf-8")}</script>'
    intro = f'{_TOOLS}<datalist id="labels">{options}</datalist>\n{script}'
    return html_page(TITLE, (), intro=intro, style=_STYLE)
