"""Files that one process alone writes, until it ends."""

import os
import subprocess
import sys

import pytest

from spacy_lpcfg.storage.owned_file import OwnedFile

OWN = """
import sys, time
from spacy_lpcfg.storage.owned_file import OwnedFile
file = OwnedFile(sys.argv[1])
file.write(b"its own")
print("ready", flush=True)
time.sleep(600)
"""


def test_owned_file_is_that_of_a_process_until_it_ends(tmp_path):
    """However it ends: what it leaves beside keeps nobody away."""
    path = tmp_path / "file"
    with subprocess.Popen([sys.executable, "-c", OWN, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(ValueError, match="is being written by another process"):
            OwnedFile(path, resume=True)
        process.kill()
    file = OwnedFile(path, resume=True)
    file.write(b"mine")
    file.close()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"mine"}


@pytest.mark.skipif(os.name != "posix", reason="makes a link")
def test_owned_file_is_one_by_all_its_names(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    file = OwnedFile(tmp_path / "file")
    with pytest.raises(ValueError, match="is being written by another process"):
        OwnedFile(tmp_path / "link")
    file.close()


def test_owned_file_is_not_replaced_when_others_wrote_it(tmp_path):
    file = OwnedFile(tmp_path / "file")
    for data in (b"one", b"two"):
        file.write(data)
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(ValueError, match="holds something else than what was written to it last"):
        file.write(b"three")
    assert (tmp_path / "file").read_bytes() == b"mine"
    (tmp_path / "file").unlink()
    file.write(b"four")
    assert (tmp_path / "file").read_bytes() == b"four"
    file.close()
