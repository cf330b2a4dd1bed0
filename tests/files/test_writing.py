"""A file is written whole or not at all; what a killed run left is refused by its reader, and removed in time."""

import errno
import json
import os
import signal
import stat
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from cases import cases_beside
from scored import scored

from clinclust.errors import InputError
from clinclust.files import say
from clinclust.files.writing import (
    MANIFEST,
    PRIVATE_FOLDER,
    atomic_write,
    changed_files,
    check_place,
    plain_error,
    read_manifest,
    write_manifest,
    write_together,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests end a forked process")
MOVES = range(1, 8)
"""Calls that move a file while `write_set` replaces the earlier set."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def dies(act):
    """Run `act` in a process that must end itself with exit code 9."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def write_set(folder, mark):
    """Write a set of files whose content is `mark`; the earlier set has one file more."""
    with write_together(folder, replacing=["a", "b", "c", MANIFEST]) as new:
        for name in ("a", "b", "c") if mark == "old" else ("a", "b"):
            (new / name).write_text(mark)
        write_manifest(new, names(new))


def at_moves(numbers, act):
    """Return an `os.replace` that calls `act` before the moves of these numbers."""
    replace, moves = os.replace, 0

    def counted(*arguments):
        nonlocal moves
        moves += 1
        if moves in numbers:
            act()
        replace(*arguments)

    return counted


def fail():
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("number", MOVES)
def test_a_death_between_moves_is_seen_by_the_manifest_and_loses_no_file(tmp_path, number):
    write_set(tmp_path, "old")

    def die():
        os.replace = at_moves([number], lambda: os._exit(9))
        write_set(tmp_path, "new")

    dies(die)
    is_whole = all((tmp_path / name).exists() and (tmp_path / name).read_text() == "old" for name in "abc")
    assert is_whole == (number <= 2)  # the manifest of the new set, then the first of the old
    assert (changed_files(tmp_path, read_manifest(tmp_path)) == []) == is_whole
    assert {"old", "new"} == {path.read_text() for path in tmp_path.rglob("a")}
    assert [path.read_text() for path in tmp_path.rglob("c")] == ["old"]
    write_set(tmp_path, "new")
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []


def test_a_private_folder_is_private_and_removed_when_it_is_old(tmp_path):
    def die():
        with atomic_write(tmp_path / "t.csv") as path:
            path.write_text("patients")
            os._exit(9)

    dies(die)
    (left,) = tmp_path.iterdir()
    assert PRIVATE_FOLDER.fullmatch(left.name)
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    for days, stays in ((6.9, True), (7.1, False)):  # another run may still use what is younger
        os.utime(left, (time.time() - days * 24 * 3600,) * 2)
        with atomic_write(tmp_path / "u.csv"):
            pass
        assert left.exists() == stays
    assert names(tmp_path) == ["u.csv"]


def test_what_the_package_did_not_make_is_left_alone(tmp_path):
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.docx").touch()
    (folder / ".clinclust-mine").mkdir(parents=True)
    (folder / ".clinclust-file_123.partial").write_text("mine")
    (folder / ".clinclust-link_123.partial").symlink_to(elsewhere)
    for mine in [*folder.iterdir(), elsewhere]:
        os.utime(mine, (0, 0), follow_symlinks=False)
    before = names(folder)
    with atomic_write(folder / "t.csv"):
        pass
    assert names(folder) == [*before, "t.csv"]
    assert names(elsewhere) == ["thesis.docx"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("number", MOVES)
def test_after_an_error_at_any_move_the_folder_is_as_before(tmp_path, number, error, monkeypatch):
    write_set(tmp_path, "old")

    def fail():
        raise error

    monkeypatch.setattr(os, "replace", at_moves([number], fail))
    with pytest.raises(type(error)):
        write_set(tmp_path, "new")
    assert names(tmp_path) == ["a", "b", "c", MANIFEST]
    assert {(tmp_path / name).read_text() for name in "abc"} == {"old"}
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []


def test_after_an_error_a_new_folder_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", at_moves([3], fail))  # the manifest into the set, a, b
    with pytest.raises(OSError, match="b cannot be written: the disk is full"):
        write_set(tmp_path / "deep" / "out", "new")
    assert names(tmp_path) == []


@pytest.mark.parametrize("second", [fail, lambda: signal.raise_signal(signal.SIGINT)], ids=["fault", "Ctrl-C"])
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_what_cannot_be_put_back_is_not_removed(tmp_path, monkeypatch, second):
    write_set(tmp_path, "old")
    monkeypatch.setattr(os, "replace", at_moves([5], fail))
    monkeypatch.setattr(os, "replace", at_moves(range(6, 99), second))
    with pytest.raises(OSError, match="files of two runs, because they could be neither moved nor put back") as caught:
        write_set(tmp_path, "new")
    monkeypatch.undo()
    (kept,) = tmp_path.rglob(".replaced")
    assert str(kept) in str(caught.value)
    assert "[Errno" not in str(caught.value)
    assert changed_files(tmp_path, read_manifest(tmp_path)) != []
    for path in kept.iterdir():  # as the message says
        path.replace(tmp_path / path.name)
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []


def test_the_manifest_moves_last(tmp_path, monkeypatch):
    moved, replace = [], Path.replace

    def recorded(self, target):
        moved.append(Path(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", recorded)
    with write_together(tmp_path / "out") as new:
        for name in (MANIFEST, "z", "a"):
            (new / name).touch()
    assert [path.name for path in moved if path.parent == tmp_path / "out"] == ["a", "z", MANIFEST]


def test_an_error_while_writing_names_the_file_that_was_to_be(tmp_path):
    with (
        pytest.raises(OSError, match="the disk is full") as caught,
        write_together(tmp_path / "out") as new,
        atomic_write(new / "t.xlsx"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value).startswith(f"{tmp_path / 'out' / 't.xlsx'} cannot be written")
    assert caught.value.errno == errno.ENOSPC
    assert names(tmp_path) == []


def test_a_workbook_whose_sheet_is_cut_off_replaces_nothing(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"before")
    with pytest.raises(OSError, match="cut off"), atomic_write(tmp_path / "a.xlsx") as path, ZipFile(path, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", "<worksheet><sheetData><row>")
    assert (tmp_path / "a.xlsx").read_bytes() == b"before"


def test_an_error_about_another_file_stays_about_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"), atomic_write(tmp_path / "t.csv"):
        (tmp_path / "none").read_bytes()


def test_devices_and_pipes_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for place in (tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(OSError, match="no ordinary file"), atomic_write(place):
            pass
    for place in ("/dev/null", "/dev/stdout", "/dev/new"):  # asked only: a fault must not reach the system's own
        with pytest.raises(OSError, match="no ordinary file"):
            check_place(Path(place))
    with pytest.raises(OSError, match="no ordinary file"), write_together(tmp_path, replacing=["pipe"]):
        pass
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to("mine")
    with atomic_write(tmp_path / "link") as path:
        path.write_text("new")
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "link").read_text() == "new"


def test_permissions_are_kept(tmp_path):
    (tmp_path / "private").touch(mode=0o600)
    for begin in (lambda: atomic_write(tmp_path / "private"), lambda: write_together(tmp_path)):
        with begin() as path:
            (path / "private" if path.is_dir() else path).write_text("new")
        assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def held(self, *arguments, **options):
    """Open no file, as where another program holds it or it is protected: the superuser may write everything."""
    raise PermissionError(errno.EACCES, "Permission denied", str(self))


def test_a_file_that_is_protected_or_open_elsewhere_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "kept").write_text("mine")
    say("protected_file", path="")  # the sentences are read before no file can be opened
    monkeypatch.setattr(Path, "open", held)
    for begin in (
        lambda: check_place(tmp_path / "kept"),
        lambda: atomic_write(tmp_path / "kept").__enter__(),
        lambda: write_together(tmp_path, replacing=["kept"]).__enter__(),
    ):
        with pytest.raises(PermissionError, match="kept is protected from writing, or another program has it open"):
            begin()
    monkeypatch.undo()
    assert names(tmp_path) == ["kept"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_can_only_be_read_is_refused_before_the_work(tmp_path, monkeypatch, code):
    def refuse(path, *arguments):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(os, "mkdir", refuse)
    for place in (tmp_path / "t.csv", tmp_path / "out"):
        begin = check_place if place.suffix else lambda folder: write_together(folder).__enter__()
        with pytest.raises(OSError, match=f"{place} cannot be written: (you have no|the disk can only)"):
            begin(place)


def test_asking_changes_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("mine")
    os.utime(tmp_path / "t.csv", (0, 0))
    check_place(tmp_path / "t.csv")
    check_place(tmp_path / "new.csv")
    assert names(tmp_path) == ["t.csv"]
    assert ((tmp_path / "t.csv").read_text(), (tmp_path / "t.csv").stat().st_mtime) == ("mine", 0)


@pytest.mark.parametrize("name", ["a\x00b", "a\ud800b"])
def test_impossible_names_are_bad_input(tmp_path, name):
    with pytest.raises(InputError, match="cannot be the name"), atomic_write(tmp_path / name):
        pass
    with pytest.raises(InputError, match="cannot be the name"), write_together(tmp_path / name):
        pass


def test_names_that_are_too_long_are_told_in_a_short_sentence(tmp_path):
    for place in (tmp_path / ("x" * 300), tmp_path / ("x/" * 4000)):
        with pytest.raises(OSError, match="the name is too long") as caught, atomic_write(place):
            pass
        assert len(str(caught.value)) < 600
        with pytest.raises(OSError, match="the name is too long"), write_together(place):
            pass
    assert names(tmp_path) == []


def test_a_folder_in_the_way_ends_all_moves_with_a_message(tmp_path):
    (tmp_path / "b").mkdir()
    together = write_together(tmp_path)
    new = together.__enter__()
    for name in "ab":
        (new / name).touch()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        together.__exit__(None, None, None)
    assert names(tmp_path) == ["b"]


def sentence_of(*error):
    return str(plain_error(*error))


@scored(sorted(errno.errorcode))
def test_every_error_names_the_file_and_shows_no_number(code):
    error = OSError(code, os.strerror(code), "a.csv")
    assert sentence_of(error).startswith("a.csv cannot be used: ")
    assert "[Errno" not in sentence_of(error)
    made = plain_error(error, "b.csv", "written")
    assert isinstance(made, type(error))
    assert made.errno == code
    assert str(made) == sentence_of(made) == sentence_of(error, "b.csv", "written")


def test_the_checksums_are_those_of_sha256sum(tmp_path):
    (tmp_path / "b").write_bytes(b"abc")
    (tmp_path / "a").write_bytes(b"")
    write_manifest(tmp_path, ["b", "a"])
    # printf abc | sha256sum; printf "" | sha256sum
    assert json.loads((tmp_path / MANIFEST).read_text()) == {
        "clinclust_manifest": 1,
        "sha256": {
            "a": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "b": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        },
    }
    assert list(read_manifest(tmp_path)) == ["a", "b"]


def test_missing_and_changed_files_are_named(tmp_path):
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_text(name)
    write_manifest(tmp_path, ["a", "b", "c", "d"])
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []
    (tmp_path / "b").write_text("B")
    (tmp_path / "c").unlink()
    (tmp_path / "d").unlink()
    (tmp_path / "d").mkdir()
    assert changed_files(tmp_path, read_manifest(tmp_path)) == ["b", "c", "d"]


DAMAGED = [b"\xff\xfe\x00", b"[" * 100_000, b" " * 1_000_001]


@pytest.mark.parametrize(
    "content",
    [*map(str.encode, cases_beside(__file__, "damaged_manifests")), *DAMAGED],
    ids=lambda content: repr(content[:40]),
)
def test_a_damaged_manifest_is_refused_by_name_with_the_repair(tmp_path, content):
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(InputError, match=rf"{MANIFEST} .*write the folder again") as caught:
        read_manifest(tmp_path)
    assert len(str(caught.value)) < 1000
