"""`spacy-lpcfg calibrate`: the tau that it finds and saves, and the errors that it tells."""

import re

import pytest
import spacy
from commands import SAMPLE, run

from spacy_lpcfg.evaluation.calibration import TAUS
from spacy_lpcfg.trees import read_trees


@pytest.fixture(scope="module")
def few_trees(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "dev.mrg"
    path.write_text("".join(f"{tree}\n" for tree, _ in zip(read_trees(SAMPLE / "dev.mrg"), range(12), strict=False)))
    return path


def test_cli_calibrate_saves_the_tau_that_it_tells(pcfg_model, few_trees, tmp_path):
    output = run("calibrate", pcfg_model, few_trees, "-o", tmp_path / "out").stdout
    assert output.startswith("as it is:")
    (tau,) = map(float, re.findall(r"with tau ([0-9.]+), fitted to these trees", output))
    errors = re.findall(r"brackets ([0-9.]+)%, tags ([0-9.]+)%, whole trees ([0-9.]+)%", output)
    assert len(errors) == 2
    assert all(0 <= float(error) <= 100 for row in errors for error in row)
    nlp = spacy.load(tmp_path / "out")
    assert nlp.get_pipe("lpcfg_parser").output.tau == tau
    assert tau in TAUS
    again = run("calibrate", tmp_path / "out", few_trees).stdout
    assert re.findall(r"brackets.*", again)[0] == re.findall(r"brackets.*", output)[1]  # as it is now


def test_cli_calibrate_tells_means_of_domains(pcfg_model, few_trees):
    output = run("calibrate", pcfg_model, few_trees, few_trees).stdout
    assert output.count("mean: expected calibration error of") == 2
