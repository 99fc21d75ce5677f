"""The HTML page of `spacy-lpcfg correct`: a tree drawn as nested boxes, edited by clicks and keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.trees.labels import explain

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
  padding: .2rem .35rem; text-align: start; width: 100% }
.kept { border-color: #2f8f7a; border-width: 2px }
.word small { border-radius: 4px; margin: .1rem -.1rem 0; padding: .2rem .1rem }
.word small.kept { border-bottom: 2px solid #2f8f7a; opacity: 1 }
#list { display: flex; flex-direction: column; max-height: 40vh; overflow-y: auto }
#list button { background: none; border: 0; color: inherit; cursor: pointer; flex: none; font: inherit;
  padding: .2rem .4rem; text-align: start; unicode-bidi: plaintext }
#list .selected { outline-offset: -2px }
#list small { border: 1px solid var(--line); border-radius: 6px; margin-left: .5rem; padding: 0 .3rem }
#label[aria-invalid] { border-color: #c05f3c; outline: 2px solid #c05f3c }
[hidden] { display: none !important }
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
#tools .names { max-height: 4.6rem; overflow-y: auto }
kbd { border: 1px solid var(--line); border-radius: 4px; font-size: .8rem; padding: 0 .3rem }
@media (max-width: 45rem) {
  body { margin: .5rem auto; padding: 0 .6rem }
  h1 { display: none }
  #place { margin: .25rem 0 }
  #sentence { font-size: 1rem; max-height: 9rem; overflow-y: auto }
  #tools kbd { display: none }
  #tools .names { flex-wrap: nowrap; overflow-x: auto }
  .bracket { border-radius: 4px; margin: 1px; padding: 0 }
  .label { padding: .2rem }
}
"""
_TOOLS = """
<p id="place"></p>
<details id="sentences"><summary id="counts"></summary><div id="list"></div></details>
<p id="sentence" dir="auto" aria-label="Sentence"></p>
<p class="hint">New bracket: click its first word, its last word, and a label. Change one: click its label, then
another. Change a tag: click it, then another.</p>
<div id="tree" tabindex="0" aria-label="Tree"></div>
<div id="tools">
<p id="chosen"></p>
<div id="names" class="names" role="group" aria-label="Labels">%s</div>
<div id="tag-names" class="names" role="group" aria-label="Tags" hidden>%s</div>
<p id="message" role="status"></p>
<div>
<input id="label" list="labels" placeholder="other" aria-label="Label" spellcheck="false" autocomplete="off">
<button data-do="apply">Relabel, or add <kbd>Enter</kbd></button>
<button data-do="remove">Remove <kbd>x</kbd></button>
<button data-do="keep">Keep <kbd>k</kbd></button>
<button data-do="tag">Tag <kbd>t</kbd></button>
<button data-do="undo">Undo <kbd>u</kbd></button>
<button data-do="back">Back <kbd>p</kbd></button>
<button data-do="next">Next <kbd>n</kbd></button>
<button data-do="save">Save, next <kbd>s</kbd></button>
</div>
</div>
<p class="hint">What you change or keep stays, with a thick border, and the rest is parsed again. Changes that you do
not save are kept until the server ends. Keys: the arrows move
from bracket to bracket, <kbd>Shift</kbd> and an arrow make the chosen words more or fewer, <kbd>r</kbd> or <kbd>a</kbd>
goes to the field for a label, <kbd>Esc</kbd> back to the tree.</p>
"""


def correction_page(labels: Sequence[str], tags: Sequence[str], settings: Mapping[str, Any], nonce: str) -> str:
    """Render the HTML of the correction page.

    labels (sequence of str): The labels of brackets to choose from.
    tags (sequence of str): The tags of words to choose from.
    settings (mapping): The settings of the page's script.
        token: The secret to send with each request.
        sentences: The text and the state of each sentence.
        first: The number of the sentence to show first, from 0.
        file: The name of the file of saved trees.
    nonce (str): The nonce of the script in the Content-Security-Policy.
    """
    names = {label: explain(label) or "" for label in (*labels, *tags)}
    known = {"labels": list(labels), "tags": list(tags), "names": names}
    data = json.dumps({**settings, **known}).replace("<", "\\u003c")
    script = f'<script nonce="{nonce}">\nconst SETTINGS = {data}\n{_SCRIPT.read_text("utf-8")}</script>'
    lists = "".join(
        f'<datalist id="{name}">{"".join(f"""<option value="{escape(label)}">""" for label in choices)}</datalist>'
        for name, choices in (("labels", labels), ("tags", tags))
    )
    intro = f"{_TOOLS % (_buttons(labels), _buttons(tags))}{lists}\n{script}"
    return html_page(TITLE, (), intro=intro, style=_STYLE)


def _buttons(labels: Sequence[str]) -> str:
    return "".join(
        f'<button data-label="{escape(label)}" title="{escape(explain(label) or "")}">{escape(label)}</button>'
        for label in labels
    )
