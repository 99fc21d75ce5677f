"""`spacy-lpcfg calibrate`: the tau that it finds and saves, and the errors that it tells."""

import re

import pytest
import spacy
from commands import SAMPLE, run

from spacy_lpcfg.evaluation.calibration import DomainOutcomes, fit_tau
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import clean, read_trees


@pytest.fixture(scope="module")
def few_trees(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "dev.mrg"
    path.write_text("".join(f"{tree}\n" for tree, _ in zip(read_trees(SAMPLE / "dev.mrg"), range(12), strict=False)))
    return path


def test_cli_calibrate_saves_the_tau_that_it_tells(pcfg_model, few_trees, tmp_path):
    output = run("calibrate", pcfg_model, few_trees, "-o", tmp_path / "out").stdout
    assert output.startswith("as it is:")
    (tau,) = map(float, re.findall(r"with tau ([0-9.]+), fitted to these trees", output))
    golds = list(map(clean, read_trees(few_trees)))
    before, after = (spacy.load(path).get_pipe("lpcfg_parser") for path in (pcfg_model, tmp_path / "out"))
    assert after.output.tau == tau == fit_tau(before.ready_parser(), [Query(gold.words) for gold in golds], golds)
    told = re.findall(r"brackets ([0-9.]+)%, tags ([0-9.]+)%, whole trees ([0-9.]+)%", output)
    for pipe, errors in zip((before, after), told, strict=True):
        parses = [pipe.ready_parser().parse(gold.words) for gold in golds]
        assert errors == tuple(f"{100 * error:.2f}" for error in DomainOutcomes.of(parses, golds).expected_errors())


def test_cli_calibrate_tells_means_of_domains(pcfg_model, few_trees):
    output = run("calibrate", pcfg_model, few_trees, few_trees).stdout
    assert output.count("mean: expected calibration error of") == 2


def test_cli_calibrate_names_a_file_without_trees(pcfg_model, few_trees, tmp_path):
    (tmp_path / "none.mrg").touch()
    assert "none.mrg: expected" in run("calibrate", pcfg_model, few_trees, tmp_path / "none.mrg", code=1).stderr
