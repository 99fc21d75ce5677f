"""The HTML page of `spacy-lpcfg serve --correct`: a tree as boxes, edited by clicks and keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from spacy_lpcfg.pictures.pages import html_page

TITLE = "Correct trees"
_SCRIPT = Path(__file__).with_name("correction_page.js")
_STYLE = """
#sentence { font-size: 1.1rem; margin: .5rem 0 }
#sentence span { border-radius: 4px; cursor: pointer }
.hint { font-size: .9rem; margin: .25rem 0; opacity: .75 }
#tree { line-height: 1; margin: .75rem 0; outline-offset: 4px }
#tree, .below { align-items: flex-end; display: flex; flex-wrap: wrap }
.bracket { border: 1px solid var(--line); border-radius: 6px; margin: .15rem; max-width: 100%; padding: .1rem .15rem }
.word { border-radius: 6px; cursor: pointer; padding: .35rem .25rem; text-align: center }
.word small { display: block }
.word small, .label small { font-size: .7rem; font-weight: normal; opacity: .7 }
.label small { margin-left: .3rem }
.label { background: none; border: 0; color: inherit; cursor: pointer; font: inherit; font-weight: 600;
  padding: .2rem .35rem; text-align: left; width: 100% }
.kept { border-color: #2f8f7a; border-width: 2px }
.selected { background: #2d82b733; outline: 2px solid #2d82b7 }
#sentence .selected { outline-width: 1px }
#tools { background: var(--page); border-top: 1px solid var(--line); bottom: 0; padding: .4rem 0; position: sticky }
#tools p { margin: 0; min-height: 1.5rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
#tools #message:empty { display: none }
#tools #message { color: #c05f3c; white-space: normal }
#tools div { display: flex; flex-wrap: wrap; gap: .3rem; margin: .3rem 0 }
#tools button, #tools input { border: 1px solid var(--line); border-radius: 6px; background: none; color: inherit;
  cursor: pointer; flex: none; font: inherit; padding: .25rem .6rem }
#tools input { cursor: text; width: 5.5rem }
#tools #names { max-height: 4.6rem; overflow-y: auto }
kbd { border: 1px solid var(--line); border-radius: 4px; font-size: .8rem; padding: 0 .3rem }
@media (max-width: 45rem) {
  body { margin: .5rem auto; padding: 0 .6rem }
  h1 { display: none }
  #place { margin: .25rem 0 }
  #sentence { font-size: 1rem; max-height: 9rem; overflow-y: auto }
  #tools kbd { display: none }
  #tools #names { flex-wrap: nowrap; overflow-x: auto }
  .bracket { border-radius: 4px; margin: 1px; padding: 0 }
  .label { padding: .2rem }
}
"""
_TOOLS = """
<p id="place"></p>
<p id="sentence" aria-label="Sentence"></p>
<p class="hint">New bracket: click its first word, its last word, and a label. Change one: click its label, then
another.</p>
<div id="tree" tabindex="0" aria-label="Tree"></div>
<div id="tools">
<p id="chosen"></p>
<p id="message" role="status"></p>
<div id="names" role="group" aria-label="Labels">%s</div>
<div>
<input id="label" list="labels" placeholder="other" aria-label="Label" spellcheck="false" autocomplete="off">
<button data-do="apply">Relabel, or add <kbd>Enter</kbd></button>
<button data-do="remove">Remove <kbd>x</kbd></button>
<button data-do="keep">Keep <kbd>k</kbd></button>
<button data-do="undo">Undo <kbd>u</kbd></button>
<button data-do="back">Back <kbd>p</kbd></button>
<button data-do="next">Next <kbd>n</kbd></button>
<button data-do="save">Save, next <kbd>s</kbd></button>
</div>
</div>
<p class="hint">What you change or keep stays, with a thick border, and the rest is parsed again. Keys: the arrows move
from bracket to bracket, <kbd>Shift</kbd> and an arrow make the chosen words more or fewer, <kbd>r</kbd> or <kbd>a</kbd>
goes to the field for a label, <kbd>Esc</kbd> back to the tree.</p>
"""


def correction_page(labels: Sequence[str], n_sentences: int, first: int, token: str, nonce: str) -> str:
    """Return the HTML of the page.

    labels (sequence of str): The labels that brackets may have.
    first (int): Number of the sentence that is shown first.
    token (str): A secret that requests of its script carry.
    nonce (str): The nonce of the script.
    """
    options = "".join(f'<option value="{escape(label)}">' for label in labels)
    settings = json.dumps({"token": token, "n": n_sentences, "first": first}).replace("<", "\\u003c")
    script = f'<script nonce="{nonce}">\nconst SETTINGS = {settings}\n{_SCRIPT.read_text("utf-8")}</script>'
    names = "".join(f'<button data-label="{escape(label)}">{escape(label)}</button>' for label in labels)
    intro = f'{_TOOLS % names}<datalist id="labels">{options}</datalist>\n{script}'
    return html_page(TITLE, (), intro=intro, style=_STYLE)
