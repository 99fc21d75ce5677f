"""`spacy-lpcfg correct`: decisions on trees, what the server takes, and the page in a browser."""

import json
from dataclasses import replace

import pytest
import serving
from commands import run, stderr_of
from pipelines import pipeline_by
from stored_models import model

from spacy_lpcfg.components.serve.corrected_trees import CorrectedTrees
from spacy_lpcfg.components.serve.correction_server import CorrectionServer
from spacy_lpcfg.components.serve.corrections import Corrections
from spacy_lpcfg.components.serve.decisions import Decisions
from spacy_lpcfg.components.serve.demo_server import DemoServer
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.trees import parse_trees, read_trees

TEXTS = ("The man saw the dog at the station on the last day. It left.", "We left.")


@pytest.fixture(scope="module")
def pipeline(sample_grammar):
    return pipeline_by(sample_grammar)[0]


def corrections_of(pipeline, path, *, by_doubt=False, resume=False) -> Corrections:
    trees = CorrectedTrees(path, resume=resume)
    return Corrections(pipeline.get_pipe("lpcfg_parser"), map(pipeline, TEXTS), trees, by_doubt=by_doubt)


@pytest.fixture
def corrections(pipeline, tmp_path):
    return corrections_of(pipeline, tmp_path / "out.mrg")


def decided(required=(), forbidden=(), tags=None) -> Decisions:
    return Decisions(tuple(required), tuple(forbidden), tags or {})


def brackets(answer) -> list[tuple[int, int, str]]:
    return [tuple(bracket[:3]) for bracket in answer["brackets"]]


def test_corrections_come_in_order_of_doubt_or_of_the_text(corrections, pipeline, tmp_path):
    assert [each.position for each in corrections.sentences] == [0, 1, 2]
    ranked = corrections_of(pipeline, tmp_path / "other.mrg", by_doubt=True).sentences
    doubts = [each.entropy / len(each.words) for each in ranked]
    assert doubts == sorted(doubts, reverse=True)
    assert [each.position for each in ranked] == [2, 1, 0]
    twice = Corrections(corrections.component, map(pipeline, [TEXTS[1]] * 2), CorrectedTrees(tmp_path / "twice.mrg"))
    assert [each.position for each in twice.sentences] == [0, 1]  # near duplicates last


def test_corrections_keep_the_order_of_the_file_where_there_is_no_entropy(tmp_path):
    nlp, parser = pipeline_by(model("factored"))
    found = Corrections(parser, map(nlp, TEXTS), CorrectedTrees(tmp_path / "out.mrg"))
    assert [(each.position, each.entropy) for each in found.sentences] == [(0, None), (1, None), (2, None)]
    assert found.state(0) == "untouched"


def test_corrections_parse_the_rest_again(corrections):
    over_both = (3, 8, "NP")  # the dog at the station
    one, other = (brackets(corrections.keep(0, each)) for each in (decided([over_both]), decided([], [over_both])))
    assert over_both in one
    assert over_both not in other
    assert {(0, 13, "S"), (0, 2, "NP"), (2, 12, "VP"), (3, 5, "NP")} <= {*one} & {*other}


def test_corrections_are_what_was_decided_even_if_the_model_has_no_such_tree(corrections):
    required, forbidden = [(4, 7, "ODD"), (0, 2, "VP")], [(0, 13, "S")]
    found = brackets(corrections.keep(0, decided(required, forbidden)))
    assert set(required) <= set(found)
    assert not set(forbidden) & set(found)
    starts = [(start, -end) for start, end, _ in found]
    assert starts == sorted(starts)
    corrections.save(0, decided(required, forbidden))
    (tree,) = read_trees(corrections.trees.path)
    assert {*required} <= {*tree.spans()}


def test_corrections_are_written_in_the_order_of_the_file(pipeline, tmp_path):
    corrections = corrections_of(pipeline, tmp_path / "out.mrg", by_doubt=True)
    places = [each.position for each in corrections.sentences]
    for number in (0, 1):
        assert corrections.save(number)["state"] == "saved"
    assert len(corrections.trees.saved) == 2
    first = corrections.sentences[places.index(min(places[:2]))]
    trees = [*read_trees(corrections.trees.path)]
    assert trees[0].words == first.words
    assert corrections.component.learned.root_label == "ROOT"
    assert [tree.label for tree in trees] == ["S", "S"]
    corrections.save(0, decided([(0, 1, "WHNP")]))
    assert len([*read_trees(corrections.trees.path)]) == 2
    assert "(WHNP (NP (PRP We)))" in corrections.trees.path.read_text("utf-8")


def test_corrections_without_a_bracket_over_all_words_are_below_an_unlabelled_root(corrections):
    decisions = decided([], [(0, 3, label) for label in corrections.component.labels])
    found = brackets(corrections.keep(2, decisions))
    assert (0, 3) not in [bracket[:2] for bracket in found]
    corrections.save(2, decisions)
    (tree,) = read_trees(corrections.trees.path)
    assert tree.label == ""
    assert len(tree.children) > 1


def test_corrections_refuse_what_is_no_tree(corrections):
    with pytest.raises(ValueError, match="Expected one of 3 sentences, got number 3"):
        corrections.keep(3, decided())
    with pytest.raises(ValueError, match="Expected brackets that do not cross"):
        corrections.keep(0, decided([(0, 3, "NP"), (2, 4, "NP")]))
    with pytest.raises(ValueError, match="at most 20 brackets over words 0 to 3, got 5,000"):
        corrections.keep(0, decided([(0, 3, f"X{i}") for i in range(5000)]))
    with pytest.raises(ValueError, match="within the 13 words"):
        corrections.save(0, decided([(0, 99, "NP")]))
    with pytest.raises(ValueError, match="got both for NP over words 0 to 3"):
        corrections.save(0, decided([(3, 5, "NP"), (0, 3, "NP")], [(0, 3, "NP")]))
    with pytest.raises(ValueError, match=r"tags of the 13 words of the sentence, got those of \[13\]"):
        corrections.save(0, decided(tags={13: "NN"}))
    assert not corrections.trees.path.exists()
    assert corrections.keep(0, decided([(0, 3, "ODD")] * 5000)) == corrections.keep(0, decided([(0, 3, "ODD")]))


def test_corrections_own_their_file(corrections, pipeline):
    """From the start, and not only once they have written it."""
    with pytest.raises(ValueError, match=r"out.mrg is being written by another process"):
        corrections_of(pipeline, corrections.trees.path)
    corrections.save(0)
    with pytest.raises(ValueError, match=r"out.mrg is being written by another process"):
        corrections_of(pipeline, corrections.trees.path, resume=True)
    corrections.trees.close()
    with pytest.raises(ValueError, match=r"out.mrg exists: name another file, or resume it"):
        corrections_of(pipeline, corrections.trees.path)
    corrections_of(pipeline, corrections.trees.path, resume=True).trees.close()


@pytest.mark.parametrize("is_saved", [False, True], ids=["appeared", "changed"])
def test_corrections_write_over_nothing_of_others(corrections, is_saved):
    if is_saved:
        corrections.save(0)
    corrections.trees.path.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="holds something else than what was written to it last"):
        corrections.save(1)
    assert corrections.trees.path.read_text("utf-8") == "mine"
    assert 1 not in corrections.trees.saved
    corrections.trees.path.rename(corrections.trees.path.with_name("moved.mrg"))
    corrections.save(1)
    assert len(corrections.trees.saved) == 1 + is_saved
    assert len([*read_trees(corrections.trees.path)]) == 1 + is_saved


def test_corrections_that_could_not_be_written_are_not_saved(corrections, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    corrections.save(1)
    before = corrections.trees.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        for number in (0, 1):
            with pytest.raises(OSError, match="No space left"):
                corrections.save(number, decided([(0, 1, "NX")]))
    assert [corrections.state(number) == "saved" for number in (0, 1)] == [False, True]
    assert len(corrections.trees.saved) == 1
    assert corrections.trees.path.read_bytes() == before
    corrections.save(2)
    assert len([*read_trees(corrections.trees.path)]) == 2


def test_corrections_go_on_with_their_file(corrections, pipeline):
    """Saved trees are shown as they were saved, and stay when they or others are saved again."""
    flat = brackets(corrections.keep(0, decided([], [(3, 8, "NP"), (5, 8, "PP")])))
    corrections.save(
        0, decided([(0, 2, "WHNP"), (3, 5, "ODD")], [(3, 8, "NP"), (5, 8, "PP"), (0, 2, "NP")], {1: "NNS"})
    )
    assert corrections.first_open == 1
    text = corrections.trees.path.read_text("utf-8")
    corrections.trees.close()
    again = corrections_of(pipeline, corrections.trees.path, resume=True)
    assert (again.first_open, len(again.trees.saved)) == (1, 1)
    shown = again.opened(0)
    assert shown["state"] == "saved"
    assert shown["tags"][1] == "NNS"
    (saved,) = read_trees(corrections.trees.path)
    assert brackets(shown) == saved.spans()
    assert brackets(shown) != flat
    again.save(0, decided(shown["required"], shown["forbidden"], shown["assigned"]))
    assert corrections.trees.path.read_text("utf-8") == text
    again.save(1)
    assert text.strip() in corrections.trees.path.read_text("utf-8").splitlines()
    assert again.opened(2)["required"] == again.opened(2)["forbidden"] == ()


def test_corrections_keep_what_is_not_saved(corrections, monkeypatch):
    assert [corrections.state(number) for number in range(3)] == ["untouched"] * 3
    monkeypatch.setattr(corrections, "sentences", [replace(each, entropy=0.4) for each in corrections.sentences])
    assert corrections.state(1) == "sure"
    draft = decided([(0, 2, "WHNP")], [(0, 2, "NP")], {0: "PDT"})
    assert corrections.keep(0, draft)["state"] == "changed"
    shown = corrections.opened(0)
    assert (shown["required"], shown["forbidden"], shown["assigned"]) == (draft.required, draft.forbidden, draft.tags)
    assert shown["tags"][0] == "PDT"
    assert corrections.keep(0, decided())["state"] == "sure"
    corrections.save(0, draft)
    assert corrections.state(0) == "saved"
    assert "(WHNP (PDT The) (NN man))" in corrections.trees.path.read_text("utf-8")
    assert corrections.keep(0, decided())["state"] == "changed"
    assert corrections.keep(0, draft)["state"] == "saved"
    with pytest.raises(ValueError, match="do not cross"):
        corrections.keep(1, decided([(0, 2, "NP"), (1, 3, "NP")]))
    assert corrections.opened(1)["required"] == ()  # what was refused leaves nothing behind


def test_corrections_begin_with_given_trees(pipeline, tmp_path):
    trees = list(parse_trees("(S (NP-SBJ (PRP It)) (VP (VBD left)) (. .)) (FRAG (NP (PRP We)) (ODD (VBD left)) (. .))"))
    parser = pipeline.get_pipe("lpcfg_parser")

    def opened(**settings):
        docs = (tree_to_doc(pipeline.vocab, [tree]) for tree in trees)
        corrected = CorrectedTrees(tmp_path / "out.mrg", given=trees, **settings)
        return Corrections(parser, docs, corrected, by_doubt=False)

    made = opened()
    assert {"NP-SBJ", "FRAG", "ODD"} <= {*made.labels}
    assert [brackets(made.opened(i)) for i in range(2)] == [tree.spans() for tree in trees]
    assert "saved" not in [made.state(i) for i in range(2)]
    made.save(1, decided([(0, 3, "S"), (0, 1, "NP"), (1, 2, "VP")], [(0, 3, "FRAG"), (1, 2, "ODD")]))
    better = "(S (NP (PRP We)) (VP (VBD left)) (. .))"
    assert list(read_trees(made.trees.path)) == [trees[0], *parse_trees(better)]
    made.trees.close()
    again = opened(resume=True)
    assert again.first_open == 0
    assert [again.state(i) == "saved" for i in range(2)] == [False, True]


def test_corrections_keep_the_words_of_given_trees(pipeline, tmp_path):
    trees = [*parse_trees(r"(NP (NNS profits) (CC and\/or) (NNS losses))")]
    docs = [tree_to_doc(pipeline.vocab, trees)]
    corrected = CorrectedTrees(tmp_path / "out.mrg", given=trees)
    made = Corrections(pipeline.get_pipe("lpcfg_parser"), docs, corrected, by_doubt=False)
    start = made.opened(0)
    made.save(0, decided(start["required"], start["forbidden"], start["assigned"]))
    assert [*read_trees(made.trees.path)] == trees


def test_corrections_resume_no_trees_of_another_text(pipeline, tmp_path):
    (tmp_path / "out.mrg").write_text("(S (NP (PRP We)) (VP (VBD left)) (. .))\n(NP (NN Rain))\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has a tree over 'Rain', which is no sentence to correct"):
        corrections_of(pipeline, tmp_path / "out.mrg", resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.mrg"]


def test_corrections_of_a_compressed_file_are_compressed(pipeline, tmp_path):
    for resume in (False, True):
        made = corrections_of(pipeline, tmp_path / "out.mrg.gz", resume=resume)
        made.save(int(resume))
        made.trees.close()
    assert len([*read_trees(tmp_path / "out.mrg.gz")]) == 2
    assert (tmp_path / "out.mrg.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.fixture
def server(corrections):
    with serving.serving(CorrectionServer(0, corrections)) as server:
        yield server


def ask(server, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str, dict[str, str]]:
    """Send a request with the page's token; objects are sent as JSON."""
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
    return serving.ask(server, method, path, data, **{"X-Token": server.token, **headers})


NOTHING = {"number": 0, "required": [], "forbidden": [], "assigned": {}}


def test_correction_server_parses_and_saves(server, corrections):
    status, body, _ = ask(server, "POST", "/parse", {**NOTHING, "required": [[3, 8, "NP"]]})
    assert status == 200
    assert json.loads(body) == corrections.keep(0, decided([(3, 8, "NP")]))
    assert json.loads(body)["state"] == "changed"
    assert not corrections.trees.path.exists()
    assert ask(server, "POST", "/save", NOTHING)[0] == 200
    assert [tree.words[:2] for tree in read_trees(corrections.trees.path)] == [["The", "man"]]


def test_correction_server_page_has_the_token_and_runs_its_own_script_alone(server):
    status, page, headers = ask(server, "GET", "/", **{"X-Token": ""})
    assert status == 200
    assert server.token in page
    assert f"script-src 'nonce-{server.nonce}'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert page.count("<script") == page.count(f'<script nonce="{server.nonce}"') == 1
    assert '<option value="SBAR">' in page
    assert '<button data-label="SBAR" title="subordinate or relative clause, with the word that begins it">' in page
    assert '<button data-label="NNS" title="noun, plural">NNS</button>' in page
    assert 'data-label="ROOT"' not in page
    assert len(server.token) > 30
    assert server.token != server.nonce
    assert ask(server, "GET", "/?text=a&model=en")[:2] == (200, page)


@pytest.mark.parametrize(
    "headers", [{"X-Token": ""}, {"X-Token": "guessed"}, {"Origin": "https://example.org"}], ids=str
)
def test_correction_server_writes_for_its_own_page_alone(server, corrections, headers):
    status, body, _ = ask(server, "POST", "/save", NOTHING, **headers)
    assert status == 403
    assert "for the page of this server alone" in json.loads(body)["error"]
    assert not corrections.trees.path.exists()


BRACKETS = [[0, 2], [0, 2, ""], [0, 2, "N P"], [0, 2, ")("], [0, 2, 7], [0.5, 2, "NP"], [2, 2, "NP"]]


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[" * 5000, b"\xff", [], {"number": 0}, {**NOTHING, "forbidden": {"a": 1}}),
        *({**NOTHING, "number": number} for number in ("0", 99, True)),
        *({**NOTHING, "required": [bracket]} for bracket in BRACKETS),
        *({**NOTHING, "assigned": tags} for tags in ([], {"a": "NN"}, {"0": "N N"}, {"99": "NN"})),
    ],
)
def test_correction_server_refuses_what_its_page_does_not_send(server, corrections, body):
    status, found, _ = ask(server, "POST", "/save", body)
    assert status == 400
    assert json.loads(found)["error"].startswith("Expected ")
    assert not corrections.trees.path.exists()


def test_correction_server_opens_at_what_is_not_saved(server, corrections):
    assert '"first": 0' in ask(server, "GET", "/")[1]
    saved = {"required": [[0, 2, "WHNP"]], "forbidden": [[3, 8, "NP"]]}
    ask(server, "POST", "/save", NOTHING | saved)
    status, body, _ = ask(server, "POST", "/open", NOTHING)
    assert status == 200
    assert json.loads(body).items() >= saved.items()
    assert '"first": 1' in ask(server, "GET", "/")[1]


def test_correction_server_has_three_actions_of_few_bytes(server, caplog):
    assert ask(server, "POST", "/other", NOTHING)[0] == 404
    assert ask(server, "GET", "/save")[0] == 404
    assert ask(server, "POST", "/save", b"a" * 100_001)[0] == 413
    for length in ("9" * 5000, "-1", "1_0"):  # Python reads none of the first, and a number in the others
        assert ask(server, "POST", "/save", **{"Content-Length": length})[0] == 413
    assert not caplog.records


def test_cli_correct_writes_the_trees_of_a_file(pipeline, tmp_path, monkeypatch):
    pipeline.to_disk(tmp_path / "model")
    text, saved = tmp_path / "text.txt", tmp_path / "out.mrg"
    text.write_text("\n".join(TEXTS), encoding="utf-8")
    answers = serving.interrupted_after(monkeypatch, DemoServer, lambda server: ask(server, "POST", "/save", NOTHING))
    command = ("correct", tmp_path / "model")
    run(*command, text, "--port", 0, "--output", saved)
    assert [status for status, _, _ in answers] == [200]
    assert len([*read_trees(saved)]) == 1
    for wrong, message in (
        ((text, "--output", saved), "exists: name another file, or use --resume"),
        ((text, "--output", text, "--resume"), "should end in .mrg"),
        ((saved, "--output", saved, "--resume"), "is read, and would be"),
        ((saved, "--trees", "given", "--input", "text", "--output", "new.mrg"), "text has no trees to begin with"),
        ((text,), "Missing option '--output'"),
        ((tmp_path / "none.txt", "--output", tmp_path / "new.mrg"), "there is no file"),
    ):
        assert message in stderr_of(run(*command, *wrong, code=2))
    run("convert", saved, "-o", tmp_path / "out.spacy")
    for given in (saved, tmp_path / "out.spacy"):
        run(*command, given, "--trees", "given", "--port", 0, "--output", tmp_path / f"{given.suffix}.mrg")
        assert len([*read_trees(tmp_path / f"{given.suffix}.mrg")]) == 1
    before = saved.read_bytes()
    run(*command, text, "--port", 0, "--output", saved, "--resume")
    assert saved.read_bytes() == before
    assert not [*tmp_path.glob("*.lock")]


CLICKS = """
const wait = async (isReady) => { while (!isReady()) await new Promise((done) => setTimeout(done, 20)) }
const press = (key) => element("tree").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
const type = (label) => {
  element("label").value = label
  element("label").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }))
}
const find = (label, words) => [...document.querySelectorAll(".bracket")].find((box) =>
  box.firstChild.firstChild.data === label && box.querySelectorAll(".word").length === words)
const word = (i, shiftKey) => document.querySelectorAll(".word")[i].dispatchEvent(new MouseEvent("click", { shiftKey }))
const check = (holds, what) => {
  if (holds) return
  document.body.append(`not so: ${what}`)
  throw new Error(what)
}
const isInside = (box, width, height) => box.left >= 0 && box.right <= width && box.bottom <= height
async function correct() {
  await wait(() => find("NP", 2))
  check(element("sentence").textContent === "The man saw the dog at the station on the last day.", "the plain sentence")
  check([...document.querySelectorAll(".word, .label")].every((each) =>
    isInside(each.getBoundingClientRect(), innerWidth, Infinity)), "a tree that wraps")
  check([...document.querySelectorAll("[data-do]")].every((each) =>
    isInside(each.getBoundingClientRect(), innerWidth, innerHeight)), "buttons that are in sight")
  press("x")
  check(element("message").textContent.startsWith("Choose a bracket first"), "a message")
  const spoken = (i) => document.querySelectorAll("#sentence span")[i]
  spoken(9).click()
  spoken(8).click()
  check(element("chosen").textContent === "New: on the", "two words")
  spoken(3).click()
  spoken(3).click()
  check(element("chosen").textContent === "New: the", "one word")
  spoken(3).click()
  spoken(7).click()
  document.querySelector("[data-label=PP]").click()
  await wait(() => find("PP", 5))
  press("u")
  find("NP", 2).firstChild.click()
  press("r")
  type("WHNP")
  await wait(() => find("WHNP", 2))
  word(3)
  word(7, true)
  press("a")
  type("N X")
  check(element("message").textContent.startsWith("A label has no spaces and no brackets"), "a label that is refused")
  check(document.activeElement === element("label"), "the place of what is refused")
  element("label").dispatchEvent(new Event("input"))
  check(element("message").textContent === "", "a message that ends with what it was about")
  type("ODD")
  check(element("message").textContent.startsWith("The parser knows no label ODD."), "a label that is unknown")
  type("ODD")
  await wait(() => find("ODD", 5))
  press("u")
  await wait(() => !find("ODD", 5))
  word(3)
  word(7, true)
  type("NX")
  if (element("message").textContent) type("NX")
  await wait(() => find("NX", 5))
  find("NX", 5).firstChild.click()
  press("x")
  await wait(() => !find("NX", 5))
  press("u")
  await wait(() => find("NX", 5))
  find("VP", 10).firstChild.click()
  document.querySelector("[data-do=keep]").click()
  await wait(() => find("VP", 10).classList.contains("kept"))
  document.querySelectorAll(".word small")[1].click()
  check(element("chosen").textContent === "Tag NN: man", "a chosen tag")
  document.querySelector("#tag-names [data-label=NNS]").click()
  await wait(() => state.tags[1] === "NNS")
  press("n")
  await wait(() => state.number === 1 && state.words.length === 3)
  check(SETTINGS.sentences[0].state === "changed", "a change that is not saved")
  press("n")
  await wait(() => state.number === 2)
  press("n")
  check(element("message").textContent.includes("changed, but not saved: 1; not saved: 2, 3."), "what is left")
  goTo(0)
  await wait(() => state.number === 0 && state.tags[1] === "NNS" && find("NX", 5))
  check(element("message").textContent === "", "another message that ends")
  press("s")
  await wait(() => state.number === 1 && SETTINGS.sentences[0].state === "saved")
  document.body.append(Object.assign(document.createElement("b"), { id: "done", textContent: "all is corrected" }))
}
correct()
"""


@pytest.mark.slow
def test_correction_page_in_a_browser(server, corrections, tmp_path):
    own = server.answer
    server.answer = lambda text: own(text).replace("</script>", f"{CLICKS}</script>")
    options = "--window-size=400,800", "--virtual-time-budget=60000", "--dump-dom"
    page = serving.browse(server.url, tmp_path, *options)
    assert '<b id="done">all is corrected</b>' in page, page[-3000:]
    (tree,) = read_trees(corrections.trees.path)
    assert {(0, 2, "WHNP"), (3, 8, "NX")} <= {*tree.spans()}
    assert (0, 2, "NP") not in tree.spans()
    assert tree.tags[1] == "NNS"
