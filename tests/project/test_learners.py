"""The table of learners: whatever commands, configs and messages say of a learner follows from its entry."""

from __future__ import annotations

from configparser import ConfigParser
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature

import pytest
from commands import run
from paths import ROOT

from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.learners import LEARNERS, NamedLearner, learner_of, learners_of

SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
REGISTERED = SETUP["options.entry_points"]["spacy_misc"]
CLASSES = [entry.load() for entry in LEARNERS if hasattr(entry.load(), "fit")]  # the others are recipes of learners


@pytest.mark.parametrize("learner", CLASSES, ids=lambda learner: learner.__name__)
def test_class_of_the_table_is_registered_as_it_is(learner):
    assert f" = {learner.__module__}:{learner.__name__}\n" in f"{REGISTERED}\n"
    assert is_dataclass(learner)


@pytest.mark.parametrize("learner", CLASSES, ids=lambda learner: learner.__name__)
def test_defaults_of_a_class_can_be_written_into_a_config(learner):
    """Texts, numbers, None, and tuples of texts; a block is None, and the learner that is made has it."""
    defaults = [each.default for each in signature(learner).parameters.values()]
    assert all(default is None or isinstance(default, str | int | float | tuple) for default in defaults)
    made = learner()
    blocks = [each.name for each in fields(learner) if is_dataclass(getattr(made, each.name))]
    assert all(getattr(learner(**{name: getattr(made, name)}), name) == getattr(made, name) for name in blocks)


def test_entries_have_names_of_their_own():
    names = [each.name for each in LEARNERS]
    assert len({*names}) == len(names)
    assert learner_of("em").name == "em"
    with pytest.raises(ValueError, match=r"Expected a learner, got 'ems'. The nearest is 'em' of pivot, spectral"):
        learner_of("ems")


def test_command_offers_the_learners_of_the_table(tmp_path):
    shown = " ".join(run("learn", "lpcfg", "--help").stdout.split())
    for each in learners_of("lpcfg"):
        assert f"{each.name}: {each.sentence}" in shown
    done = run("learn", "lpcfg", ROOT / "assets" / "sample", "--method", "none", "-o", tmp_path / "model", code=2)
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
