"""Components are saved, loaded and sent to other processes as one file each; a failed load changes nothing."""

import gc
import multiprocessing
import os
import pickle

import pytest
import spacy
import srsly
from pipelines import PIPES, annotations, answer, give_model, one_network, tagged, untrained
from spacy.language import Language

from spacy_lpcfg.bracketing import Bracketer
from spacy_lpcfg.components.cli.shared.pipelines import save_pipeline
from spacy_lpcfg.storage.container import pack
from spacy_lpcfg.storage.reader import LIMIT_NAME


def written(nlp: Language, name: str) -> list:
    return annotations(answer(nlp, name))


@pytest.fixture(params=PIPES)
def name(request) -> str:
    return request.param


@pytest.fixture
def nlp(name) -> Language:
    return give_model(untrained(name), name)


def test_component_file_is_that_of_what_it_learned(nlp, name, tmp_path):
    nlp.to_disk(tmp_path / "model")
    saved = tmp_path / "model" / name / "model"
    own = one_network() if name == "isbn_parser" else nlp.get_pipe(name).learned
    assert type(own).from_disk(saved).to_bytes() == own.to_bytes() == saved.read_bytes()


@pytest.mark.parametrize("form", ["bytes", "disk", "pickle"])
def test_component_answers_the_same_when_loaded(nlp, name, form, tmp_path):
    if form == "bytes":
        loaded = untrained(name).from_bytes(nlp.to_bytes())
    elif form == "disk":
        nlp.to_disk(tmp_path)
        loaded = spacy.load(tmp_path)
    else:
        written(nlp, name)  # so that it has a parser, which stays
        loaded = pickle.loads(pickle.dumps(nlp))
    assert written(loaded, name) == written(nlp, name)
    for attribute in ("labels", "root_label"):
        pipes = loaded.get_pipe(name), nlp.get_pipe(name)
        assert len({getattr(pipe, attribute, None) for pipe in pipes}) == 1


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_component_answers_the_same_in_worker_processes(nlp, name, method, monkeypatch):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by {method}")
    monkeypatch.setattr("spacy.language.mp", multiprocessing.get_context(method))
    docs = list(nlp.pipe([tagged(nlp), tagged(nlp)], n_process=2, batch_size=1))
    assert [annotations(doc) for doc in docs] == [written(nlp, name)] * 2


def test_component_that_has_learned_nothing_is_saved_too(name, tmp_path):
    nlp = untrained(name)
    if name == "lpcfg_parser":
        nlp.get_pipe(name).learned = None
    nlp.to_disk(tmp_path / "model")
    assert spacy.load(tmp_path / "model").get_pipe(name).learned is None
    again = give_model(untrained(name), name)
    again.from_disk(tmp_path / "model")
    assert again.get_pipe(name).learned is None
    (tmp_path / "model" / name / "model").write_bytes(b"")
    before = give_model(again, name).get_pipe(name).learned
    with pytest.raises(ValueError, match="holds no saved"):
        again.from_disk(tmp_path / "model")
    assert again.get_pipe(name).learned is before


def bad_models(good: bytes) -> dict[str, bytes]:
    middle = len(good) // 2
    return {
        "nothing": b"",
        "foreign": b"not a model",
        "the end cut off": good[:-1],
        "a bit another": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "longer": good + b"\x00",
        "a pickle": pickle.dumps(print),
        "another kind": pack("something", 1, {}),
        "a newer format": pack("component that has learned nothing", 2, {}),
        "what thinc writes": srsly.msgpack_dumps({"nodes": [], "attrs": [], "params": [], "shims": [[good]]}),
    }


def test_component_that_fails_to_load_is_as_it_was(nlp, name, tmp_path):
    """From files and from bytes, with its settings too."""
    pipe = nlp.get_pipe(name)
    pipe.to_disk(tmp_path / "pipe", exclude=["vocab"])
    before, own = written(nlp, name), pipe.to_bytes(exclude=["vocab"])
    settings = srsly.json_dumps(getattr(pipe, "cfg", {}))
    saved = tmp_path / "pipe" / "model"
    good = saved.read_bytes()
    envelope = srsly.msgpack_loads(own)
    if (tmp_path / "pipe" / "cfg").exists():
        (tmp_path / "pipe" / "cfg").write_text('{"mapping": {"X": "NOUN"}}')
        envelope["cfg"] = b'{"mapping": {"X": "NOUN"}}'
    for bad in bad_models(good).values():
        saved.write_bytes(bad)
        with pytest.raises(pipe.error):
            pipe.from_disk(tmp_path / "pipe", exclude=["vocab"])
        with pytest.raises(pipe.error):
            pipe.from_bytes(srsly.msgpack_dumps({**envelope, "model": bad}), exclude=["vocab"])
        with pytest.raises(pipe.error):
            pipe.from_bytes(bad)
        assert gc.isenabled()
    saved.unlink()
    with pytest.raises(pipe.error, match="model"):
        pipe.from_disk(tmp_path / "pipe", exclude=["vocab"])
    assert pipe.to_bytes(exclude=["vocab"]) == own
    assert srsly.json_dumps(getattr(pipe, "cfg", {})) == settings
    assert written(nlp, name) == before


BAD_SETTINGS = ("", "{", "[1]", '{"mapping": [1]}', '{"mapping": {"NN": 3}}', '{"other": 1}', "[" * 9999)


@pytest.mark.parametrize("cfg", BAD_SETTINGS)
def test_component_settings_are_checked(cfg, tmp_path):
    nlp = give_model(untrained("spectral_bracketer"), "spectral_bracketer")
    pipe = nlp.get_pipe("spectral_bracketer")
    pipe.to_disk(tmp_path / "pipe", exclude=["vocab"])
    assert pipe.from_disk(tmp_path / "pipe", exclude=["vocab"]).mapping == {"#": "SYM"}
    (tmp_path / "pipe" / "cfg").write_text(cfg)
    pipe.learned = other = Bracketer(pipe.learned.metric)
    with pytest.raises(ValueError, match="holds no saved"):
        pipe.from_disk(tmp_path / "pipe", exclude=["vocab"])
    assert (pipe.mapping, pipe.learned) == ({"#": "SYM"}, other)


def test_component_file_may_not_be_larger_than_allowed(nlp, name, tmp_path, monkeypatch):
    nlp.to_disk(tmp_path / "model")
    monkeypatch.setenv(LIMIT_NAME, "100")
    with pytest.raises(ValueError, match=LIMIT_NAME):
        nlp.get_pipe(name).from_disk(tmp_path / "model" / name)


@pytest.mark.skipif(os.name != "posix", reason="has the devices of Unix")
@pytest.mark.parametrize("file", ["model", "cfg"])
def test_component_refuses_files_that_might_not_end(nlp, name, file, tmp_path):
    """A link to a device stands for one to /dev/zero, which spaCy would read as long as there is memory."""
    nlp.to_disk(tmp_path)
    (tmp_path / name / file).unlink(missing_ok=True)
    (tmp_path / name / file).symlink_to(os.devnull)
    with pytest.raises(ValueError, match=f"holds no saved '{name}': Expected a file, got '.*{file}', a pipe or"):
        spacy.load(tmp_path)


def test_component_folder_of_a_command_is_replaced_as_a_whole(nlp, name, tmp_path, monkeypatch):
    """The folder has the old pipeline or the new one, and nothing of the old is left in the new."""
    output = tmp_path / "some" / "model"
    save_pipeline(nlp, output, force=False)
    (output / "stray").write_text("")
    save_pipeline(nlp, output, force=True)
    assert not (output / "stray").exists()
    assert [path.name for path in output.parent.iterdir()] == ["model"]
    with monkeypatch.context() as patch:
        patch.setattr(type(nlp.get_pipe(name).model), "to_disk", _fail)
        with pytest.raises(OSError, match="disk full"):
            save_pipeline(nlp, output, force=False)
    assert [path.name for path in output.parent.iterdir()] == ["model"]
    assert written(spacy.load(output), name) == written(nlp, name)


def _fail(*_: object) -> None:
    raise OSError("disk full")
