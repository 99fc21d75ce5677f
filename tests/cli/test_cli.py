"""The commands, as a user runs them: in processes of their own, and in this one where only the answer matters."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
import spacy
from commands import GOLD, RAW, SAMPLE, console_script, process, run, sample_part, stderr_of, trees_in
from spacy.tokens import DocBin
from spacy.training.converters import conllu_to_docs
from typer.main import get_command

from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.components.cli.shared.learner_options import parsed_settings
from spacy_lpcfg.components.doc.read import rooted_trees
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.learning import EM, Pivot, TreebankPCFG
from spacy_lpcfg.trees import dependencies, normalize, parse_trees, read_trees, to_latex
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.noise import with_noise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def folder(sample_folder):
    return sample_folder


@pytest.fixture(scope="session")
def model(pcfg_model):
    return pcfg_model


@pytest.fixture
def raw(new_file):
    return new_file("raw.mrg", RAW)


def grammar_of(model: Path):
    return spacy.load(model).get_pipe("lpcfg_parser").learned


# All


def test_cli_runs_as_a_script_and_under_spacy():
    for command in ([console_script()], [sys.executable, "-m", "spacy", "lpcfg"]):
        assert "--input tagged" in process(*command, "parse", "--help").stdout


def commands_of(command, *names: str):
    """All commands below one, by the words that they are called by."""
    if not hasattr(command, "commands"):
        return [(names, command)]
    return [found for name, below in command.commands.items() for found in commands_of(below, *names, name)]


@pytest.mark.parametrize(("names", "command"), commands_of(get_command(lpcfg_cli)), ids=str)
def test_cli_help_explains_every_option_and_has_an_example(names, command):
    _, example = run(*names, "--help").stdout.split("Example:\n")
    assert f"spacy-lpcfg {' '.join(names)} " in example
    assert [each.name for each in command.params if not each.help] == []


def test_cli_wrong_usage_is_code_2(tmp_path, raw):
    run("learn", "parser", tmp_path / "absent.mrg", "-o", tmp_path / "out", code=2)
    run("learn", "parser", raw, "-o", tmp_path / "out", "--set", "n_states=0", code=2)
    assert "xx-none" in run("learn", "parser", raw, "-o", tmp_path / "out", "--lang", "xx-none", code=2).stderr
    assert "tokens have no tags" in run("parse", "m", "-", "--input", "tokens", "--tags", "given", code=2).stderr
    assert "leave out --json" in run("evaluate", raw, raw, "--json", "--reference", code=2).stderr


# learn


def test_cli_learns_spectrally_and_tunes(folder, tmp_path):
    out = tmp_path / "new" / "model"
    done = process(
        console_script(), "learn", "parser", folder / "train.mrg", "--dev", folder / "dev.mrg",
        "--method", "spectral", "--set", "n_states=2", "--seed", 1, "--jobs", 1, "--lang", "en", "--output", out,
    )  # fmt: skip
    trials = [float(line.split()[-1]) for line in done.stderr.splitlines() if "dev F1" in line]
    assert len(trials) > 3
    nlp = spacy.load(out)
    config = nlp.config["components"]["lpcfg_parser"]["learner"]
    learner = nlp.get_pipe("lpcfg_parser").learner
    assert (config["name"], config["settings"]["n_states"], config["seed"]) == ("spectral", 2, 1)
    assert (learner.n_states, learner.seed) == (2, 1)
    assert learner.fit(read_trees(folder / "train.mrg")).to_bytes() == grammar_of(out).to_bytes()
    run("parse", out, folder / "dev.mrg", "--input", "trees", "-o", tmp_path / "parsed")
    scores = json.loads(run("evaluate", folder / "dev.mrg", tmp_path / "parsed", "--json").stdout)
    assert f"dev F1 {scores['evalb_f']:.2f} on 20 trees" in done.stdout
    assert nlp.meta["performance"]["evalb_f"] == pytest.approx(scores["evalb_f"] / 100)
    assert scores["evalb_f"] == pytest.approx(max(trials), abs=0.5)


def test_cli_learns_by_default_by_pivots_with_evidence(folder, tmp_path):
    run("learn", "parser", folder / "train.mrg", "--set", "n_states=2", "--seed", 3, "-o", tmp_path / "two")
    trees = list(read_trees(folder / "train.mrg"))
    with_evidence = make_learner("pivot", seed=3, settings={"n_states": 2})
    assert grammar_of(tmp_path / "two").to_bytes() == with_evidence.fit(trees).to_bytes()


def test_cli_learns_of_a_folder_what_is_for_training(folder, tmp_path):
    """As the README lays a treebank out: train.mrg, and dev.mrg to measure on."""
    trees = (folder / "train.mrg").read_text("utf-8").splitlines(keepends=True)
    own = tmp_path / "own"
    (own / "train").mkdir(parents=True)
    (own / "dev.mrg").write_bytes((folder / "dev.mrg").read_bytes())
    (own / "train.txt").write_text("no trees")
    learn = "learn", "parser", own, "--method", "pcfg", "-o"
    assert "read 20 trees from" in run(*learn, tmp_path / "all").stdout  # nothing is called train
    (own / "train" / "one.mrg").write_text("".join(trees[:200]), encoding="utf-8")
    (own / "train.mrg.gz").write_bytes(gzip.compress("".join(trees[200:]).encode()))
    done = run(*learn, tmp_path / "some")
    assert f"read 250 trees from {own / 'train' / 'one.mrg'}, {own / 'train.mrg.gz'}\n" in done.stdout
    assert grammar_of(tmp_path / "some").to_bytes() == TreebankPCFG().fit(read_trees(folder / "train.mrg")).to_bytes()


@pytest.mark.parametrize(("method", "learner"), [("em", EM), ("pivot", Pivot)])
def test_cli_chooses_iterations_on_held_out_trees(folder, tmp_path, method, learner):
    done = run(
        "learn", "parser", folder / "hundred.mrg", "--dev", folder / "dev.mrg",
        "--method", method, "--set", "n_states=2", "-o", tmp_path / method,
    )  # fmt: skip
    looked_at = [line for line in done.stderr.splitlines() if "dev F1" in line]
    scores = [float(line.split("dev F1 ")[1].split(",")[0]) for line in looked_at]
    numbers = [int(line.split(":")[0].split()[1]) for line in looked_at]
    best = numbers[scores.index(max(scores))]
    nlp = spacy.load(tmp_path / method)
    settings = nlp.config["components"]["lpcfg_parser"]["learner"]["settings"]
    assert (settings["n_states"], settings["n_iterations"]) == (2, best)
    assert [round(step["f1"], 2) for step in nlp.meta["fit"] if step["f1"] is not None] == scores
    assert {step["iteration"] for step in nlp.meta["fit"]} >= set(numbers)
    trees = list(read_trees(folder / "hundred.mrg"))
    again = learner(n_states=2, n_iterations=best).fit(trees)
    learned = grammar_of(tmp_path / method)
    assert learned.without_evidence.to_bytes() == again.to_bytes()
    assert (learned is learned.without_evidence) == (method != "pivot")


@pytest.mark.parametrize("method", ["spectral", "pivot"])
def test_cli_says_when_a_treebank_is_too_small_for_the_states(tmp_path, method):
    ten = sample_part(tmp_path / "ten.mrg", "train", 10)
    said = run("learn", "parser", ten, "--method", method, "-o", tmp_path / "few").stderr
    assert said.count("Warning: 47 of 47 symbols have fewer than 16 states: 47 seen fewer than 40 times") == 1
    said = run("learn", "parser", ten, "--method", method, "--set", "n_states=1", "-o", tmp_path / "one").stderr
    assert "Warning" not in said


@pytest.mark.parametrize(
    ("option", "method", "message"),
    [
        (("--set", "n_states=7"), "pcfg", "--set: Expected a setting of the learner 'pcfg', got 'n_states'"),
        (("--seed", 0), "pcfg", "--seed: pcfg has no use for it"),
        (("--set", "n_states"), "pivot", "--set: expected NAME=VALUE, such as n_states=24; got 'n_states'"),
        (("--set", "=3"), "pivot", "--set: expected NAME=VALUE"),
        (("--set", "n_jobs=2"), "pivot", "--set: expected --jobs in place of n_jobs"),
        (("--set", "pivots=1", "--set", "pivots.shrink=1"), "pivot", "pivots is given twice"),
        (("--set", "pivots.shrink=1", "--set", "pivots=1"), "pivot", "pivots is given twice"),
    ],
    ids=str,
)
def test_cli_refuses_options_that_the_method_has_no_use_for(raw, tmp_path, option, method, message):
    """Even where their value is the default, and before anything is learned."""
    done = run("learn", "parser", raw, "--method", method, *option, "-o", tmp_path / "out", code=2)
    assert message in stderr_of(done)
    assert not (tmp_path / "out").exists()


def test_cli_settings_are_json_or_text_and_may_be_within_a_part():
    given = [
        "n_states=24",
        "evidence=false",
        "variant=paper",
        "pivots.shrink=0.5",
        "pivots.more_inside=[]",
        "heads=a=b",
    ]
    values = {"n_states": 24, "evidence": False, "variant": "paper", "heads": "a=b"}
    assert parsed_settings(given) == {**values, "pivots": {"shrink": 0.5, "more_inside": []}}


def test_cli_learn_needs_trees(tmp_path):
    (tmp_path / "none.mrg").write_text("\n", encoding="utf-8")
    command = ("learn", "parser", tmp_path / "none.mrg", "--method", "pcfg", "-o", tmp_path / "model")
    assert "Expected at least one tree" in run(*command, code=1).stderr


# parse


def test_cli_parses_tokens_line_by_line(model):
    text = 'The  ferry\tleft .\r\n\n( \u05e9\u05dc\u05d5\u05dd \U0001f600 a\u00a0b \x00 " [ 1/2 )\nGo'
    result = run("parse", model, "-", "--input", "tokens", text=text)
    first, empty, odd, last = result.stdout.split("\n")[:-1]
    assert trees_in(first)[0].words == ["The", "ferry", "left", "."]
    assert empty == ""
    assert trees_in(odd)[0].words == [
        "-LRB-",
        "\u05e9\u05dc\u05d5\u05dd",
        "\U0001f600",
        "a\u00a0b",
        *'\x00"[',
        "1/2",
        "-RRB-",
    ]
    assert trees_in(last)[0].words == ["Go"]


@pytest.mark.parametrize("command", ["parse {model}", "surprisal {model}", "complexity", "search NP"])
def test_cli_takes_no_json_for_text(model, tmp_path, command):
    run("convert", SAMPLE / "dev.mrg", "-o", tmp_path / "dev.jsonl")
    result = run(*command.format(model=model).split(), tmp_path / "dev.jsonl", code=2)
    assert "holds JSON" in result.stderr


def test_cli_surprisal_says_why_there_is_none(model):
    text = " ".join(["the ferry left ,"] * 100)
    assert "limits.max_words" in run("surprisal", model, "-", "--input", "tokens", text=text).stderr


@pytest.mark.parametrize("command", ["surprisal", "doubt", "simplify", "sample"])
def test_cli_passes_over_an_empty_line_of_tokens(model, command):
    assert "left" in run(command, model, "-", "--input", "tokens", text="It rained .\n\nHe left .\n").stdout


def test_cli_keeps_given_tags(model):
    text = "The/DT 1/2/CD ferry/NN left/NEVERSEEN (/( ./.\n"
    for options in ((), ("--tags", "given")):
        (tree,) = trees_in(run("parse", model, "-", "--input", "tagged", *options, text=text).stdout)
        assert tree.words == ["The", "1/2", "ferry", "left", "-LRB-", "."]
        assert tree.tags == ["DT", "CD", "NN", "NEVERSEEN", "-LRB-", "."]
    (tree,) = trees_in(run("parse", model, "-", "--input", "tagged", "--tags", "model", text=text).stdout)
    assert "NEVERSEEN" not in tree.tags
    result = run("parse", model, "-", "--input", "tagged", text="The/DT\nferry\n", code=1)
    assert "<stdin>:2: Expected word/TAG" in result.stderr


def test_cli_parses_the_words_of_trees(model, raw, folder):
    golds = [normalize(tree) for tree in read_trees(raw)][:2]
    for tags in ("model", "given"):
        found = trees_in(run("parse", model, raw, "--input", "trees", "--tags", tags).stdout)
        assert [tree.words for tree in found] == [gold.words for gold in golds]
    assert [tree.tags for tree in found] == [gold.tags for gold in golds]
    assert run("parse", model, "-", "--input", "trees", text=RAW).stdout == (
        run("parse", model, raw, "--input", "trees").stdout
    )


def test_cli_parse_takes_tags_of_a_treebank_only_if_told(model, tmp_path):
    """Neither as a prior, nor into the Docs that it writes: what it finds is by the words alone."""
    wrong, plain = (tmp_path / f"{name}.mrg" for name in ("wrong", "plain"))
    wrong.write_text("(S (NP (CC It)) (VP (IN left)) (. .))\n", encoding="utf-8")
    plain.write_text("(S (NP (PRP It)) (VP (VBD left)) (. .))\n", encoding="utf-8")
    for path in (wrong, plain):
        run("convert", path, "-o", path.with_suffix(".spacy"))
    wanted = run("parse", model, plain, "--input", "trees").stdout
    assert trees_in(wanted)[0].tags != ["CC", "IN", "."]
    for file, options in ((wrong, ["--input", "trees"]), (wrong.with_suffix(".spacy"), [])):
        assert run("parse", model, file, *options).stdout == wanted
        run("parse", model, file, *options, "--force", "-o", tmp_path / "out.spacy")
        (doc,) = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab)
        assert [token.tag_ for token in doc] == trees_in(wanted)[0].tags
        given = run("parse", model, file, *options, "--tags", "given").stdout
        assert trees_in(given)[0].tags == ["CC", "IN", "."]


def test_cli_parse_says_how_many_trees_are_makeshift(model):
    long = " ".join(["the ferry left ,"] * 100)
    result = run("parse", model, "-", "--input", "tokens", text=f"{long}\n\nGo\n")
    assert len(trees_in(result.stdout)[0]) == 400
    assert "1 of 3 sentences got a makeshift tree: 1 segmented" in result.stderr
    assert "A sentence of 400 words is split into 3 pieces of at most 150 words" in result.stderr


# evaluate


def test_cli_evaluate_normalizes_both_sides(raw, new_file):
    gold = new_file("gold.mrg", GOLD)
    for one in (raw, gold):
        for other in (raw, gold):
            scores = json.loads(run("evaluate", one, other, "--json").stdout)
            assert {name: value for name, value in scores.items() if not isinstance(value, (dict, list))} == {
                "evalb_p": 100.0, "evalb_r": 100.0, "evalb_f": 100.0, "complete_match": 100.0,
                "tag_acc": 100.0, "n_sentences": 2, "n_error": 0, "n_skipped": 0,
            }  # fmt: skip
    assert "bracketing F1" in run("evaluate", raw, gold).stdout


def test_cli_evaluate_takes_empty_lines_for_missing_trees_and_other_words_for_errors(tmp_path):
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text(GOLD + "(UH Yes)\n", encoding="utf-8")
    test.write_text(f"\n{GOLD.splitlines()[1]}\n(UH No)\n", encoding="utf-8")
    scores = json.loads(run("evaluate", gold, test, "--json").stdout)
    assert (scores["n_sentences"], scores["n_error"], scores["evalb_f"]) == (3, 1, 100.0)


def test_cli_evaluate_tells_which_labels_are_confused(raw, new_file):
    test = new_file("test.mrg", RAW.replace("(NP=2", "(X_1"))
    scores = json.loads(run("evaluate", raw, test, "--json").stdout)
    assert scores["confusions"] == [{"gold": "NP", "test": "X_1", "n": 1}]
    assert scores["labels"]["X_1"] == {"p": 0.0, "r": 0.0, "f": 0.0, "n_gold": 0, "n_test": 1}
    assert scores["lengths"]["1-10"]["n_sentences"] == 2
    assert "NP          X_1                1" in run("evaluate", raw, test).stdout


@pytest.mark.parametrize(
    ("name", "params", "expected"), [("sample", "sample/sample.prm", "rsl"), ("bug", "new.prm", "rsl-new")]
)
def test_cli_evaluate_prints_the_reference_summary(shared_evalb, name, params, expected):
    gold, test = (shared_evalb / name / f"{name}.{end}" for end in ("gld", "tst"))
    table = run("evaluate", gold, test, "--params", shared_evalb / params, "--reference").stdout
    wanted = (shared_evalb / name / f"{name}.{expected}").read_text("utf-8")
    lines = [line.split() for line in wanted.splitlines() if " = " in line]
    found = [line.split() for line in table.splitlines()]
    assert len(lines) > 10
    assert [line for line in lines if line not in found] == []


# convert


def test_cli_converts_to_docs_and_back(folder, tmp_path):
    with gzip.open(tmp_path / "dev.mrg.gz", "wt", encoding="utf-8") as file:
        file.write((folder / "dev.mrg").read_text("utf-8"))
    run("convert", folder / "dev.mrg", tmp_path / "dev.mrg.gz", "-o", tmp_path / "both.spacy", "--n-sents", 7)
    docs = list(DocBin().from_disk(tmp_path / "both.spacy").get_docs(spacy.blank("en").vocab))
    assert [len(rooted_trees(doc)) for doc in docs] == [7, 7, 7, 7, 7, 5]
    run("convert", tmp_path / "both.spacy", "-o", tmp_path / "back.mrg")
    assert list(read_trees(tmp_path / "back.mrg")) == 2 * list(read_trees(folder / "dev.mrg"))
    run("convert", tmp_path / "both.spacy", "-o", tmp_path / "both.jsonl")
    (first, *_) = (tmp_path / "both.jsonl").read_text("utf-8").splitlines()
    (tree, *_) = read_trees(folder / "dev.mrg")
    found, text = json.loads(first), " ".join(tree.words)
    assert (found["words"], found["tags"], found["tree"]) == (tree.words, tree.tags, str(tree))
    assert [(each["start"], each["end"], each["label"]) for each in found["spans"]] == tree.children[0].spans()
    for each in (found, *found["spans"]):
        assert each["text"] == text[each["start_char"] : each["end_char"]]
    run("convert", tmp_path / "both.jsonl", "-o", tmp_path / "from.mrg")
    assert (tmp_path / "from.mrg").read_bytes() == (tmp_path / "back.mrg").read_bytes()
    run("convert", tmp_path / "back.mrg", "-o", tmp_path / "again.mrg.gz")
    assert list(read_trees(tmp_path / "again.mrg.gz")) == list(read_trees(tmp_path / "back.mrg"))


@pytest.mark.parametrize(("options", "heads"), [([], "202223020"), (["--lang", "de"], "202223001")])
def test_cli_converts_to_dependencies(tmp_path, options, heads):
    """The trees are normalized, and the head rules are those of the language."""
    (tmp_path / "raw.mrg").write_text(f"{RAW} (X (A a) (B b))", "utf-8")
    run("convert", tmp_path / "raw.mrg", "-o", tmp_path / "raw.conllu", *options)
    first, second, third, end = (tmp_path / "raw.conllu").read_text("utf-8").split("\n\n")
    assert end == ""
    assert first.startswith("# text = It seems working .\n1\tIt\t_\tPRON\tPRP\t_\t")
    rows = [line.split("\t") for text in (first, second, third) for line in text.splitlines()[1:]]
    assert "".join(row[6] for row in rows) == heads


def test_cli_converts_to_dependencies_that_spacy_reads(folder, tmp_path):
    run("convert", folder / "dev.mrg", "-o", tmp_path / "dev.conllu")
    docs = conllu_to_docs((tmp_path / "dev.conllu").read_text("utf-8"), n_sents=1, no_print=True)
    for doc, tree in zip(docs, map(normalize, read_trees(folder / "dev.mrg")), strict=True):
        heads = [i if head == NO_HEAD else head for i, (head, *_) in enumerate(dependencies(tree))]
        assert [token.head.i for token in doc] == heads
        assert [token.tag_ for token in doc] == tree.tags


def test_cli_converts_to_latex(tmp_path):
    (tmp_path / "raw.mrg").write_text(RAW, "utf-8")
    for style in ("forest", "qtree"):
        run("convert", tmp_path / "raw.mrg", "-o", tmp_path / "raw.tex", "--format", style, "--force")
        first, second = GOLD.splitlines()
        drawn = [to_latex(tree, style) for tree in parse_trees(f"{first} (ROOT {second})")]
        expected = "\n\n".join([f"% needs \\usepackage{{{style}}}", *drawn]) + "\n"
        assert (tmp_path / "raw.tex").read_text("utf-8") == expected


@pytest.mark.parametrize("seed", [0, 1])
def test_cli_convert_adds_noise_by_the_seed(folder, tmp_path, seed):
    run("convert", folder / "dev.mrg", "-o", tmp_path / "copies.mrg", "--noise", "0.2", "--seed", seed)
    trees = list(read_trees(folder / "dev.mrg"))
    assert list(read_trees(tmp_path / "copies.mrg")) == list(with_noise(trees, share=0.2, seed=seed))


def test_cli_convert_says_where_there_are_no_trees(raw, tmp_path):
    DocBin(docs=[spacy.blank("en")("No trees")]).to_disk(tmp_path / "out.spacy")
    assert "has no constituents" in run("convert", tmp_path / "out.spacy", "-o", tmp_path / "out.mrg", code=1).stderr
    raw.write_text("", encoding="utf-8")
    assert "No trees in" in run("convert", raw, "-o", tmp_path / "out.mrg", code=1).stderr
