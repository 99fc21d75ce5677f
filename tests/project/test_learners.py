"""The table of learners: whatever commands, configs and messages say of a learner follows from its entry."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pytest
from commands import run
from paths import ROOT
from thinc.api import Config

from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.learners import LEARNERS, NamedLearner, learner_of, learners_of


@pytest.mark.parametrize("entry", LEARNERS, ids=lambda entry: entry.name)
def test_config_can_describe_every_setting(entry):
    """Texts, numbers, None, lists, and parts of them make the learner whose values they are."""
    default = entry.load()()
    values = {key: value for key, value in asdict(default).items() if key not in ("seed", "lang")}
    settings = Config({"learner": {"settings": values}}).from_str(Config({"learner": {"settings": values}}).to_str())
    without_evidence = {"evidence": False} if entry.takes_evidence else {}
    made = make_learner(entry.name, settings={**settings["learner"]["settings"], **without_evidence})
    assert made == default


def test_entries_have_names_of_their_own():
    names = [each.name for each in LEARNERS]
    assert len({*names}) == len(names)
    assert learner_of("em").name == "em"
    with pytest.raises(ValueError, match=r"Expected a learner, got 'ems'. The nearest is 'em' of pivot, spectral"):
        learner_of("ems")


def test_command_offers_the_learners_of_the_table(tmp_path):
    shown = " ".join(run("learn", "parser", "--help").stdout.split())
    for each in learners_of("parser"):
        assert f"{each.name}: {each.sentence}" in shown
    done = run("learn", "parser", ROOT / "assets" / "sample", "--method", "none", "-o", tmp_path / "model", code=2)
    assert "The nearest is" in done.stderr


@dataclass(frozen=True)
class Bare:
    """A learner with none of the settings that commands fill in."""

    n_states: int = 2

    def fit(self, trees, *, held_out=None, on_step=None):
        raise NotImplementedError


def test_command_takes_a_learner_without_the_settings_that_it_fills_in(monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.learners.LEARNERS", (*LEARNERS, NamedLearner("bare", "Bare.", lambda: Bare)))
    learner, config = chosen_learner("bare", ["n_states=3"], seed=1, lang="de", jobs=2)
    assert learner == Bare(3)
    assert config["settings"] == {"n_states": 3}
