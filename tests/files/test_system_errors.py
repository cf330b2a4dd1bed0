"""Errors of the operating system are sentences that name the file."""

import errno
import os

import pytest
from scored import scored

from clinclust.files.system_errors import plain_error, plain_sentence


@scored(sorted(errno.errorcode))
def test_every_error_names_the_file_and_shows_no_number(code):
    error = OSError(code, os.strerror(code), "a.csv")
    assert plain_sentence(error).startswith("a.csv cannot be used: ")
    assert "[Errno" not in plain_sentence(error)
    made = plain_error(error, "b.csv", "written")
    assert isinstance(made, type(error))
    assert made.errno == code
    assert str(made) == plain_sentence(made) == plain_sentence(error, "b.csv", "written")


def test_sentences_are_left_alone():
    assert plain_sentence(FileNotFoundError("there is no file x")) == "there is no file x"


@pytest.mark.parametrize("private", ["out/.clinclust-abcd_123.partial/.clinclust-x.partial", ".clinclust-x.partial"])
def test_private_folders_are_not_named(private):
    place = private.split(".clinclust")[0]
    error = OSError(errno.ENOSPC, "", f"{private}/t.csv")
    assert plain_sentence(error).startswith(f"{place}t.csv cannot be used: ")
    assert plain_sentence(error, "out/.clinclust-x.partial").startswith("out cannot be used: ")
    assert plain_sentence(error, ".clinclust-x.partial.csv").startswith(".clinclust-x.partial.csv cannot")


def test_names_cannot_hide_and_are_shortened():
    shown = plain_sentence(OSError(errno.ENOSPC, "", "\x1b[2J\n" + "x" * 5000))
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert len(shown) < 500
