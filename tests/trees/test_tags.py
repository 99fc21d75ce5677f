"""Tags cut to parts of speech: by a function, as files are read, in commands and in `spacy train`."""

import json

import pytest
from commands import run

from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import TreeFiles, parse_trees, read_trees
from spacy_lpcfg.trees.tags import coarse_tag, with_coarse_tags

FINE = """\
( (IP-MAT (NP-SBJ (PRO-N hún)) (VBDI fór) (PP (P til) (NP (N+D-G skipsins))) (. .)))
( (IP-MAT (NP-SBJ (N-N skip)) (VBDS færi) (. .)))
"""
COARSE = """\
(IP (NP (PRO hún)) (VBD fór) (PP (P til) (NP (N+D skipsins))) (. .))
(IP (NP (N skip)) (VBD færi) (. .))
"""


CUT = """
N-A>N N^A^SG>N PRO$^D^3^SG>PRO$ no_et_þgf_kvk>no subst:sg:nom:m1>subst N+D-A>N+D N-A+D-N>N+D CONJ-1>CONJ VBDI>VBD
BEDS^3^SG>BED RP+MDPI>RP+MDP
"""
STAY = "VBI VBP PRP$ -LRB- NNP|NN : `` -- $ -NONE- _ + A+"  # the first is an imperative


@pytest.mark.parametrize("tags", (CUT + STAY).split())
def test_tags_are_cut_to_parts_of_speech(tags):
    tag, _, cut = tags.partition(">")
    assert coarse_tag(tag) == (cut or tag)
    assert coarse_tag(cut or tag) == (cut or tag)


def test_tags_of_phrases_stay():
    (tree,) = parse_trees("(IP-MAT (NP-SBJ (N-N skip)) (VBDI fór))")
    assert str(with_coarse_tags(tree)) == "(IP-MAT (NP-SBJ (N skip)) (VBD fór))"


def test_tags_are_cut_as_files_are_read(tmp_path):
    for name in ("a.mrg", "b.mrg"):
        (tmp_path / name).write_text(FINE, "utf-8")
    fine, coarse = TreeFiles.of(tmp_path), TreeFiles.of(tmp_path, coarse_tags=True)
    cut = [*map(with_coarse_tags, fine)]
    assert [*coarse] == [*read_trees([tmp_path / "a.mrg", tmp_path / "b.mrg"], coarse_tags=True)] == cut
    assert TreebankPCFG().fit(coarse).to_bytes() == TreebankPCFG().fit(cut).to_bytes()
    assert TreebankPCFG().fit(coarse).tags == (".", "N", "N+D", "P", "PRO", "VBD")


def test_tags_are_cut_by_commands(tmp_path):
    path, out, model = tmp_path / "a.mrg", tmp_path / "out.mrg", tmp_path / "model"
    path.write_text(FINE, "utf-8")
    run("convert", path, "-o", out, "--tag-set", "coarse")
    assert out.read_text("utf-8") == COARSE
    options = ("--method", "pcfg", "--lang", "is", "--tag-set", "coarse")
    assert "dev F1 100.00" in run("learn", "parser", path, "--dev", path, *options, "-o", model).stdout
    assert run("parse", model, path).stdout == COARSE
    for judged in ((model, path), (path, out)):
        scores = json.loads(run("evaluate", *judged, "--json", "--tag-set", "coarse").stdout)
        assert (scores["evalb_f"], scores["tag_acc"]) == (100, 100)
    assert json.loads(run("evaluate", model, path, "--json").stdout)["tag_acc"] < 50
