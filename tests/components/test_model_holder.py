"""Objects that components make once for all threads go with their model, and no forked process waits for them."""

import multiprocessing
import os
import pickle
import threading
from contextlib import contextmanager

import pytest
from pipelines import PCFG, STEPWISE, TINY_ISBN, pipeline_of, treebank

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.components import isbn_parser, lpcfg_parser
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees import parse_trees

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

TINY = {"learner": TINY_ISBN, "pruning": {"beam": 3}}
OTHER = TreebankPCFG().fit(parse_trees("(S (A a) (B b))"))
by_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def learned(name, **config):
    nlp = pipeline_of(name, **config)
    examples = list(treebank(30)(nlp))
    nlp.initialize(lambda: examples)
    return nlp, examples


@contextmanager
def halted(monkeypatch, make):
    """Within the block a thread is making a component's parser; the thread ends with the block."""
    begun, goes_on = threading.Event(), threading.Event()

    class Halting(SegmentingParser):
        def __init__(self, *args):
            if threading.current_thread() is thread:
                begun.set()
                goes_on.wait(60)
            super().__init__(*args)

    monkeypatch.setattr(lpcfg_parser, "SegmentingParser", Halting)
    monkeypatch.setattr(isbn_parser, "SegmentingParser", Halting)
    thread = threading.Thread(target=make)
    thread.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        goes_on.set()
        thread.join()


def parser_of(pipe):
    """The parser by the model, below its limits."""
    return pipe.parser.parser


@pytest.mark.parametrize("change", ["assign", "load", "update"])
def test_grammar_that_is_changed_meanwhile_is_parsed_by(monkeypatch, tmp_path, change):
    nlp, examples = learned("lpcfg_parser", **STEPWISE)
    pipe, saved = nlp.get_pipe("lpcfg_parser"), pipeline_of("lpcfg_parser", **PCFG).get_pipe("lpcfg_parser")
    saved.learned = OTHER
    saved.to_disk(tmp_path / "other")
    with halted(monkeypatch, lambda: pipe.parser):
        before = pipe.learned
        if change == "assign":
            pipe.learned = OTHER
        elif change == "load":
            pipe.from_disk(tmp_path / "other")
        else:
            nlp.update(examples[:9])
    assert parser_of(pipe).grammar is pipe.learned is not before
    assert (pipe.learned.labels == OTHER.labels) == (change != "update")


def test_grammar_that_is_assigned_while_one_is_read_stays():
    pipe = pipeline_of("lpcfg_parser", **PCFG).get_pipe("lpcfg_parser")

    def read():
        pipe.learned = OTHER  # as another thread may
        return TreebankPCFG().fit(parse_trees("(S (C c) (D d))"))

    pipe.model.read_by(read)
    assert pipe.learned.labels == ("S",)
    assert pipe.learned is OTHER


def test_grammar_that_is_assigned_or_loaded_is_not_replaced_by_online_learning(tmp_path):
    nlp, examples = learned("lpcfg_parser", **STEPWISE)
    pipe = nlp.get_pipe("lpcfg_parser")
    pipe.to_disk(tmp_path / "saved")
    pipe.learned = OTHER
    with pytest.warns(UserWarning, match="learns nothing more"):
        nlp.update(examples)
    assert pipe.learned is OTHER
    nlp.initialize(lambda: examples)
    loaded = pipe.from_disk(tmp_path / "saved").learned
    nlp.update(examples)
    assert pipe.learned is loaded


@pytest.mark.parametrize("setting", [{"limits": Limits(7)}, {"pruning": BeamSettings(beam=7)}])
def test_settings_that_are_assigned_meanwhile_are_parsed_by(monkeypatch, setting):
    pipe = learned("isbn_parser", **TINY)[0].get_pipe("isbn_parser")
    ((name, value),) = setting.items()
    before = getattr(pipe, name)
    with halted(monkeypatch, lambda: pipe.parser):
        setattr(pipe, name, value)
    assert (pipe.parser.limits.max_words, parser_of(pipe).search.beam) == (pipe.limits.max_words, pipe.pruning.beam)
    setattr(pipe, name, before)
    assert (pipe.parser.limits.max_words, parser_of(pipe).search.beam) == (pipe.limits.max_words, pipe.pruning.beam)


def test_value_that_exists_is_read_without_a_lock():
    holder, goes_on = ModelHolder("test", Grammar.from_bytes), threading.Event()
    assert holder.made("one", lambda grammar: 1) is None  # before training
    holder.learned = OTHER
    assert holder.made("one", lambda grammar: 1) == 1
    thread = threading.Thread(target=holder.made, args=("other", lambda grammar: goes_on.wait(60)))
    thread.start()
    assert holder.made("one", lambda grammar: 2) == 1
    goes_on.set()
    thread.join()


def test_holder_is_pickled_without_what_was_made_of_its_model():
    holder = ModelHolder("test", Grammar.from_bytes)
    holder.read_by(lambda: OTHER)
    holder.made("lock", lambda grammar: threading.Lock())
    again = pickle.loads(pickle.dumps(holder))
    assert again.learned.to_bytes() == OTHER.to_bytes()
    assert again.made("lock", lambda grammar: "new") == "new"
    assert (again.name, again.ops.name) == (holder.name, holder.ops.name)


def ends(call) -> bool:
    """Whether a forked process comes to the end of a call."""
    process = multiprocessing.get_context("fork").Process(target=call)
    process.start()
    process.join(120)
    is_alive = process.is_alive()
    process.kill()
    return not is_alive and process.exitcode == 0


@by_fork
@pytest.mark.parametrize(("name", "config"), [("lpcfg_parser", PCFG), ("isbn_parser", TINY)])
def test_forked_process_parses_while_a_thread_makes_a_parser(monkeypatch, name, config):
    nlp, other = learned(name, **config)[0], learned(name, **config)[0]
    with halted(monkeypatch, lambda: nlp.get_pipe(name).parser):
        assert ends(lambda: other("It rained."))  # by another pipeline
        assert ends(lambda: nlp("It rained."))


class Slow:
    begun, goes_on = threading.Event(), threading.Event()

    @cached_property
    def value(self) -> int:
        if threading.current_thread() is not threading.main_thread():
            self.begun.set()
            self.goes_on.wait(60)
        return 1


@by_fork
def test_forked_process_reads_an_attribute_that_a_thread_computes():
    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    assert ends(lambda: slow.value)
    slow.goes_on.set()
    thread.join()
    assert vars(slow) == {"value": 1}
