"""Deaths and faults while a file is written: nothing may be lost, half-written, or left behind."""

import contextlib
import errno
import hashlib
import os
import resource
import shutil
import signal
import tempfile
import warnings

from attack.attempts import Attack
from attack.written import WRITERS, write_earlier
from clinclust import MAPDP
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST, changed_files, read_manifest

_STEPS = ("replace", "rename", "fsync", "unlink", "mkdir", "rmdir", "open", "remove", "chmod")
_FILES_OF_A_MODEL = ("model.json", "model.npz", MANIFEST)
_N_STEPS = {"fit folder": 80, "model folder": 35}  # of others fewer than 28
_FAULTS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG)


def deaths_at_a_step(count, rng, folder):
    """End processes at the nth call of the system that makes, moves, flushes or removes a file, before or after it."""
    for number in range(count):
        name = ("fit folder", "model folder", "report.xlsx", "table.csv")[0 if number % 2 else number // 2 % 4]
        target, expected = _written(name, folder)
        step, after = int(rng.integers(1, _N_STEPS.get(name, 28))), bool(rng.integers(2))
        child = os.fork()
        if child == 0:
            _count_steps(lambda: os._exit(9), step, after)
            _as_a_child(lambda: WRITERS[name](target), folder)  # noqa: B023
        os.waitpid(child, 0)
        about = f"death {'after' if after else 'before'} step {step} of {name}"
        yield _fault_after_a_death(about, name, target, expected, folder)


def faults_at_a_step(count, rng, folder):
    """Let the nth call of the system fail, as on a full, broken or protected disk."""
    for number in range(count):
        name = list(WRITERS)[number % len(WRITERS)]
        target, expected = _written(name, folder)
        step, code = int(rng.integers(1, _N_STEPS.get(name, 28))), int(rng.choice(_FAULTS))
        said = _in_a_child(lambda: WRITERS[name](target), folder, step=step, code=code)  # noqa: B023
        about = f"{errno.errorcode[code]} at step {step} of {name}"
        yield _wrong_words(about, said, target) or _fault(about, target, expected, folder)


def files_that_grow_too_large(count, rng, folder):
    """Write under a limit of the size of files, which ends a write in the middle."""
    for number in range(count):
        name = list(WRITERS)[number % len(WRITERS)]
        target, expected = _written(name, folder)
        limit = int(rng.integers(0, max(map(len, expected[1].values())) + 1000))
        said = _in_a_child(lambda: WRITERS[name](target), folder, limit=limit)  # noqa: B023
        about = f"limit of {limit} bytes for {name}"
        yield _wrong_words(about, said, target) or _fault(about, target, expected, folder)


def _written(name, folder):
    """Write what an earlier run left; return the path, and what may stand there in the end."""
    shutil.rmtree(folder / "work", ignore_errors=True)
    (folder / "work").mkdir()
    (folder / "temporary").mkdir(exist_ok=True)
    target = folder / "work" / name
    earlier, new = _expected(name, folder)
    if "folder" in name:
        target.mkdir()
    for file, content in earlier.items():
        (target / file if "folder" in name else target).write_bytes(content)
    return target, (earlier, new)


_EXPECTED = {}


def _expected(name, folder):
    """Return the files of an earlier run, and those of the run that is disturbed."""
    if (name, folder) not in _EXPECTED:
        target = folder / name
        write_earlier(name, target)
        earlier = _content(target)
        WRITERS[name](target)
        _EXPECTED[name, folder] = earlier, _content(target)
        assert earlier != _content(target)
    return _EXPECTED[name, folder]


def _as_a_child(write, folder):
    """Write in this forked process, and end it."""
    with contextlib.suppress(BaseException):
        tempfile.tempdir = str(folder / "temporary")
        warnings.simplefilter("ignore")
        write()
    os._exit(0)


def _in_a_child(write, folder, *, step=None, code=0, limit=None):
    """Write in a forked process with a fault; return the type and message of what it raised, or an empty text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        try:
            warnings.simplefilter("ignore")
            tempfile.tempdir = str(folder / "temporary")
            if limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            else:
                _count_steps(_raiser(code), step, after=False)
            write()
        except BaseException as error:
            said = f"{isinstance(error, OSError)} {type(error).__name__}: {error}".encode()
        os.write(writer, said)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(child, 0)
    return said


def _raiser(code):
    def fail():
        raise OSError(code, os.strerror(code))

    return fail


def _count_steps(act, step, after):
    """Replace the calls of the system so that `act` happens at the given one, before or after it is carried out."""
    calls = 0

    def counted(call):
        def wrapped(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls == step and not after:
                act()
            result = call(*arguments, **options)
            if calls == step and after:
                act()
            return result

        return wrapped

    for name in _STEPS:
        setattr(os, name, counted(getattr(os, name)))


def _fault(about, target, expected, folder):
    """Return what is wrong with the files after a fault; None if nothing is."""
    if _content(target) not in expected:
        return f"{about}: it was lost or is not whole"
    if "model" in target.name and not _loads(target):
        return f"{about}: the model cannot be loaded"
    left = [path.name for path in (*folder.rglob(".clinclust-*"), *(folder / "temporary").iterdir())]
    return f"{about}: left {left[0]}" if left else None


def _fault_after_a_death(about, name, target, expected, folder):
    """Return what is wrong with the files after a death, or after the next run, once what is left is a week old."""
    if _content(target) not in expected:
        if "folder" not in name:
            return f"{about}: it was lost or is not whole"
        if fault := _fault_of_a_mixture(target, expected):
            return f"{about}: {fault}"
    for left in folder.rglob(".clinclust-*"):
        os.utime(left, (0, 0))
    WRITERS[name](target)
    return _fault(f"the run after {about}", target, expected[1:], folder)


def _fault_of_a_mixture(target, expected):
    """Return what is wrong with a folder of files of two runs: one is lost, or it can be read as that of one run."""
    kept = [path.read_bytes() for path in target.rglob("*") if path.is_file()]
    lost = [file for run in expected for file, content in run.items() if content not in kept]
    if lost:
        return f"{lost[0]} was lost"
    # A file that the manifest does not list may still be there, but all that it lists are of one run.
    listed = read_manifest(target)
    if not changed_files(target, listed) and not any(listed.items() <= _sha256s(run).items() for run in expected):
        return "the manifest holds for files of two runs"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        is_loaded = _loads(target)
    present = _content(target)
    model = {file: present[file] for file in _FILES_OF_A_MODEL if file in present}
    runs = [run for run in expected if model.items() <= run.items() and len(model) == len(_FILES_OF_A_MODEL)]
    if is_loaded != bool(runs):
        return "a model is loaded that is of two runs, or one is refused that is of one"
    name = "assignments.csv"
    if is_loaded and name in present and bool(told) != (present[name] != runs[0][name]):
        return "nothing is said of assignments of another run, or something of those of this one"
    return None


def _loads(target):
    """Return whether a model is loaded, or refused with what to do; any other end is an error of the attack."""
    try:
        MAPDP.load(target)
    except (InputError, FileNotFoundError) as error:
        if "fit the model again" in str(error):
            return False
        raise
    return True


def _sha256s(files):
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _wrong_words(about, said, target):
    """Return what is wrong with the message of a fault; None if nothing is."""
    if said and not said.startswith("True "):
        return f"{about}: raised {said[:200]}"
    if said and ("[Errno" in said or ".clinclust-" in said or str(target) not in said or len(said) > 1000):
        return f"{about}: said {said[:200]!r}"
    return None


def _content(path):
    if not path.is_dir():
        return {path.name: path.read_bytes()} if path.exists() else {}
    return {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.is_file()}


ATTACKS = (
    Attack("writing: deaths at a step", deaths_at_a_step, smoke=6, full=200),
    Attack("writing: faults at a step", faults_at_a_step, smoke=20, full=240),
    Attack("writing: files that grow too large", files_that_grow_too_large, smoke=3, full=120),
)
