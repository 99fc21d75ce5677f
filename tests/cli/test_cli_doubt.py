"""`spacy-lpcfg doubt` and the setting `words`: the sentences most worth correcting, and tags that words may have."""

from commands import SAMPLE, run, stderr_of

from spacy_lpcfg.trees import read_trees

TEXT = "It rained. It rained.\n\nThe old man saw the ferry that the boys on the hill with the zebra missed on Sunday.\n"


def test_cli_doubt_puts_the_most_doubtful_sentences_first_and_leaves_out_duplicates(pcfg_model, tmp_path, new_file):
    text = new_file("text.txt", TEXT)
    table = [line.split("\t") for line in run("doubt", pcfg_model, text).stdout.splitlines()]
    rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    assert [(row["line"], row["sentence"]) for row in rows] == [("3", "3"), ("1", "1")]
    assert float(rows[0]["bits_per_word"]) >= float(rows[1]["bits_per_word"])
    assert (rows[1]["words"], rows[1]["text"]) == ("3", "It rained.")
    assert run("doubt", pcfg_model, text, "-n", 1, "--format", "text").stdout == TEXT.split("\n\n")[1]
    run("doubt", pcfg_model, text, "-o", tmp_path / "doubt.mrg")
    parsed = run("parse", pcfg_model, text).stdout.splitlines()
    assert (tmp_path / "doubt.mrg").read_text().splitlines() == [parsed[2], parsed[0]]
    assert len([*read_trees(tmp_path / "doubt.mrg")]) == 2


def test_cli_doubt_takes_the_words_of_trees(pcfg_model):
    assert len(run("doubt", pcfg_model, SAMPLE / "dev.mrg", "-n", 5).stdout.splitlines()) == 6


def test_cli_parse_and_adapt_take_words_with_their_tags(pcfg_model, tmp_path, new_file):
    words = new_file("words.txt", "missed VBN\n")
    text = "The zebra that they missed was the last ship."
    assert "(VBN missed)" in run("parse", pcfg_model, text, "--set", f"words={words}").stdout
    words.write_text("\nmissed VBX\n")
    parse = ("parse", pcfg_model, text, "--set", f"words={words}")
    adapt = ("adapt", pcfg_model, SAMPLE / "dev.mrg", "-o", tmp_path / "mine", "--words", words)
    for command, option in ((parse, "--set"), (adapt, "--words")):
        error = stderr_of(run(*command, code=2))
        assert option in error
        assert "words.txt:2: Expected tags of the model for 'missed', got 'VBX'; the nearest of" in error
