"""A file is written whole or not at all; what a dead run left is put in order, and what a living one uses is not."""

import contextlib
import errno
import os
import stat
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from pathlib import Path

import pytest

from clinclust.errors import InputError
from clinclust.files.manifest import MANIFEST, changed_files, read_manifest, write_manifest
from clinclust.files.moves import LeftoverWarning, settle_leftovers
from clinclust.files.scratch import LOCK, NEW, PLAN, alone_in, final_place, is_scratch_name, scratch_folder
from clinclust.files.writing import atomic_write, check_place, write_together

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests end a forked process")


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
    with write_together(folder, replacing=["a", "b", "c", MANIFEST], last=MANIFEST) as new:
        for name in ("a", "b", "c") if mark == "old" else ("a", "b"):
            (new / name).write_text(mark)
        write_manifest(new, names(new))


def die_at_move(folder, number):
    """Write the new set, and die at a call that renames a file."""
    replace, moves = os.replace, 0

    def counted(*arguments):
        nonlocal moves
        moves += 1
        if moves == number:
            os._exit(9)
        replace(*arguments)

    os.replace = counted
    write_set(folder, "new")
    os._exit(9)


# --- deaths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 7))
def test_a_set_of_files_survives_a_death_at_every_move(tmp_path, number):
    write_set(tmp_path, "old")
    dies(lambda: die_at_move(tmp_path, number))
    if not changed_files(tmp_path, read_manifest(tmp_path)):  # the manifest holds for a set of one run alone
        assert len({(tmp_path / name).read_text() for name in read_manifest(tmp_path)}) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftoverWarning)
        settle_leftovers(tmp_path)
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []
    whole = {"old": ["a", "b", "c", MANIFEST], "new": ["a", "b", MANIFEST]}
    assert names(tmp_path) == whole[(tmp_path / "a").read_text()]
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_moves_that_were_begun_are_taken_back_and_told(tmp_path):
    write_set(tmp_path, "old")
    dies(lambda: die_at_move(tmp_path, 4))
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("new", "old")
    assert not (tmp_path / "c").exists()
    with pytest.warns(LeftoverWarning, match="they were taken back: run it again"):
        settle_leftovers(tmp_path)
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "b", "c", MANIFEST]


@pytest.mark.parametrize("number", range(1, 4))
def test_a_death_while_moves_are_taken_back_is_settled_too(tmp_path, number):
    write_set(tmp_path, "old")
    dies(lambda: die_at_move(tmp_path, 5))

    def die():
        replace, calls = os.replace, 0

        def counted(*arguments):
            nonlocal calls
            calls += 1
            if calls == number:
                os._exit(9)
            replace(*arguments)

        os.replace = counted
        settle_leftovers(tmp_path)
        os._exit(9)

    dies(die)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftoverWarning)
        settle_leftovers(tmp_path)
    assert names(tmp_path) == ["a", "b", "c", MANIFEST]
    assert {(tmp_path / name).read_text() for name in "abc"} == {"old"}
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []


def test_what_a_dead_run_left_is_removed_by_the_next_and_told(tmp_path):
    def die():
        with atomic_write(tmp_path / "t.csv") as path:
            path.write_text("patients")
            os._exit(9)

    dies(die)
    (left,) = names(tmp_path)
    assert is_scratch_name(left)
    assert stat.S_IMODE((tmp_path / left).stat().st_mode) == 0o700
    with pytest.warns(LeftoverWarning, match="removed the temporary files"), atomic_write(tmp_path / "u.csv"):
        pass
    assert names(tmp_path) == ["u.csv"]


def test_a_death_between_making_a_folder_and_its_lock_is_settled(tmp_path):
    (tmp_path / ".clinclust-scratch-0123456789abcdef").mkdir()
    with pytest.warns(LeftoverWarning, match="removed the temporary files"):
        settle_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_what_a_living_run_uses_is_left_alone(tmp_path):
    code = (
        "import sys\nfrom clinclust.files.writing import atomic_write\n"
        "with atomic_write('slow.csv') as path:\n    path.write_text('x')\n    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    slow = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert slow.stdout.readline() == "ready\n"
    with atomic_write(tmp_path / "quick.csv"):
        pass
    assert len(names(tmp_path)) == 2
    slow.communicate("", timeout=60)
    assert slow.returncode == 0
    assert names(tmp_path) == ["quick.csv", "slow.csv"]


@pytest.mark.parametrize("made", ["file", "link", "more inside", "other name", "earlier shape"])
def test_what_the_package_did_not_make_is_left_alone(tmp_path, made):
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / LOCK).touch()
    mine = folder / (".clinclust-mine" if made == "other name" else ".clinclust-scratch-0123456789abcdef")
    if made == "file":
        mine.write_text("mine")
    elif made == "link":
        mine.symlink_to(elsewhere)
    else:
        mine.mkdir()
        (mine / ("thesis.docx" if made == "more inside" else "subtypes.xlsx")).write_text("mine")
        (mine / LOCK).touch()
    settle_leftovers(folder)
    assert names(folder) == [mine.name]
    assert names(elsewhere) == [LOCK]


def test_files_written_since_are_not_replaced_by_moves_that_were_begun(tmp_path):
    write_set(tmp_path, "old")
    dies(lambda: die_at_move(tmp_path, 4))
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("new", "old")
    (tmp_path / "b").write_text("since")
    with pytest.warns(LeftoverWarning, match="b; look through both"):
        settle_leftovers(tmp_path)
    assert (tmp_path / "b").read_text() == "since"


@pytest.mark.parametrize("plan", ["{", "[]", '{"x": 1}', '{"../x": [null, null]}', "[" * 100_000])
def test_a_damaged_plan_moves_nothing(tmp_path, plan):
    def die():
        with scratch_folder(tmp_path, tmp_path) as scratch:
            (scratch / NEW / "x").write_text("x")
            (scratch / PLAN).write_text(plan)
            os._exit(9)

    dies(die)
    with pytest.warns(LeftoverWarning, match="could not be mended: .*is damaged"):
        settle_leftovers(tmp_path)
    assert names(tmp_path.parent / tmp_path.name) == names(tmp_path)
    assert not (tmp_path.parent / "x").exists()


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing", range(1, 7))
def test_after_an_error_at_any_move_the_folder_is_as_before(tmp_path, failing, error, monkeypatch):
    write_set(tmp_path, "old")
    replace, calls = os.replace, 0

    def once(*arguments):
        nonlocal calls
        calls += 1
        if calls == failing:
            raise error
        replace(*arguments)

    monkeypatch.setattr(os, "replace", once)
    with contextlib.suppress(OSError, KeyboardInterrupt):
        write_set(tmp_path, "new")
    assert (tmp_path / "c").exists() == (calls >= failing)
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_the_last_file_moves_last(tmp_path, monkeypatch):
    moved, replace = [], Path.replace

    def recorded(self, target):
        moved.append(Path(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", recorded)
    with write_together(tmp_path / "out", last="a") as new:
        for name in "cab":
            (new / name).touch()
    assert [path.name for path in moved if path.parent == tmp_path / "out"] == ["b", "c", "a"]


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


def test_an_error_about_another_file_stays_about_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"), atomic_write(tmp_path / "t.csv"):
        (tmp_path / "none").read_bytes()


# --- places -----------------------------------------------------------------------------------------------------------


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
    with atomic_write(tmp_path / "private") as path:
        path.write_text("new")
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "kept").touch(mode=0o400)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everything
    with pytest.raises(PermissionError, match="protected from writing"), atomic_write(tmp_path / "kept"):
        pass


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


def test_scratch_folders_are_not_named_to_people(tmp_path):
    inner = f".clinclust-scratch-{'0' * 16}"
    assert final_place(tmp_path / inner / NEW / inner / NEW / "t.csv") == tmp_path / "t.csv"
    assert final_place(tmp_path / "t.csv") == tmp_path / "t.csv"


def test_a_folder_in_the_way_ends_all_moves_with_a_message(tmp_path):
    (tmp_path / "b").mkdir()
    together = write_together(tmp_path)
    new = together.__enter__()
    for name in "ab":
        (new / name).touch()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        together.__exit__(None, None, None)
    assert names(tmp_path) == ["b"]


@pytest.mark.parametrize("act", [lambda folder: write_set(folder, "newer"), settle_leftovers], ids=["moves", "settles"])
def test_whoever_moves_files_into_a_folder_waits_for_whoever_does_already(tmp_path, act):
    write_set(tmp_path, "old")
    with warnings.catch_warnings(), ThreadPoolExecutor(1) as pool:
        warnings.simplefilter("ignore", LeftoverWarning)
        dies(lambda: die_at_move(tmp_path, 2))
        with alone_in(tmp_path):
            acting = pool.submit(act, tmp_path)
            with pytest.raises(NotYetError):
                acting.result(timeout=0.3)
        acting.result(timeout=60)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
