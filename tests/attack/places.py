"""Places that nothing can be written to, from devices to full disks: a message, and nothing lost."""

import contextlib
import os
import resource
import signal
import stat
import subprocess

import numpy as np
import pandas as pd
import yaml

from attack.attempts import Attack, ImpossibleHereError, ran

_LONGEST = 4096


def odd_places(count, rng, folder):
    """Give every command each odd ``--out``: an empty name, a device, a pipe, an input, a name that is too long."""
    _prepared(folder)
    tries = [(command, place) for command in _COMMANDS for place in _PLACES]
    for number in range(count):
        command, place = tries[number % len(tries)]
        given, expected = _PLACES[place]
        out = given(folder, command)
        before = _inputs(folder)
        code, said = _run(_arguments(command, folder, out))
        yield _fault(f"{command} to {place}", code, said, expected, before, folder)
        for path, content in before.items():
            path.write_bytes(content)


def full_disks(count, rng, folder):
    """Run every command with its output, or the folder for temporary files, on a disk without space."""
    _prepared(folder)
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False).returncode:
        raise ImpossibleHereError("this user may not mount a disk")
    try:
        for number in range(count):
            command = list(_COMMANDS)[number % len(_COMMANDS)]
            (disk / "filler").write_bytes(b"0" * int(rng.integers(50_000, 65_500)))
            before = _inputs(folder)
            code, said = _run(_arguments(command, folder, disk / ("d" if command == "fit" else f"t{_SUFFIX[command]}")))
            fault = _fault(f"{command} on a full disk", code, said, "maybe", before, folder)
            left = sorted(path.name for path in disk.rglob("*") if path.name != "filler")
            yield fault or (f"{command} on a full disk: left {left}" if code and left else None)
            for path in disk.iterdir():
                subprocess.run(["rm", "-rf", str(path)], check=True)
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def limits_of_size(count, rng, folder):
    """Run every command under a limit of the size of files, with the temporary files of the system on it too."""
    _prepared(folder)
    for number in range(count):
        command = list(_COMMANDS)[number % len(_COMMANDS)]
        limit = int(rng.integers(0, 30_000))
        target = folder / ("limited" if command == "fit" else f"limited{_SUFFIX[command]}")
        before = _inputs(folder)
        code, said = _run(_arguments(command, folder, target), limit=limit)
        fault = _fault(f"{command} with at most {limit} bytes", code, said, "maybe", before, folder)
        yield fault or (f"{command}: left {target.name}" if code and target.exists() and command != "fit" else None)
        subprocess.run(["rm", "-rf", str(target)], check=True)


_SUFFIX = {"draft": ".yaml", "assign": ".csv", "table": ".docx", "table as workbook": ".xlsx", "fit": ""}
_COMMANDS = {
    "draft": "draft {folder}/cohort.csv",
    "assign": "assign {folder}/cohort.csv --model {folder}/model",
    "table": "table {folder}/cohort.csv --model {folder}/model",
    "table as workbook": "table {folder}/cohort.csv --model {folder}/model",
    "fit": "fit {folder}/cohort.csv --schema {folder}/schema.yaml --n-restarts 1 --n-jobs 1 --associations none",
}


def _arguments(command, folder, out):
    """Return the command with --overwrite, which only lets it replace what no other rule protects."""
    return [*(word.format(folder=folder) for word in _COMMANDS[command].split()), "--out", str(out), "--overwrite"]


def _named(name):
    return lambda folder, command: folder / name


def _with_suffix(name):
    return lambda folder, command: folder / f"{name}{_SUFFIX[command]}"


def _a_pipe(folder, command):
    path = folder / f"pipe{_SUFFIX[command]}"
    if not path.exists():
        os.mkfifo(path)
    return path


def _a_device(folder, command):
    """Return a device of our own: a fault must never replace one of the system."""
    path = folder / f"device{_SUFFIX[command]}"
    if not path.exists():
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            os.mkfifo(path)
    return path


def _a_link(name, target):
    """Return a function that links to what another returns."""

    def link(folder, command):
        path = folder / f"{name}{_SUFFIX[command]}"
        if not path.is_symlink():
            path.symlink_to(target(folder, command))
        return path

    return link


def _below_a_file(folder, command):
    return folder / "cohort.csv" / f"x{_SUFFIX[command]}"


def _a_loop(folder, command):
    path = folder / "loop"
    if not path.is_symlink():
        path.symlink_to("loop")
    return path / f"x{_SUFFIX[command]}"


_PLACES = {
    "nothing": (lambda folder, command: "", "refused"),
    "spaces": (lambda folder, command: "  ", "refused"),
    "the table": (_named("cohort.csv"), "refused"),
    "the schema": (_named("schema.yaml"), "maybe"),  # `draft --overwrite` replaces it
    "a file of the model": (_named("model/model.json"), "refused"),
    "the assignments of the model": (_named("model/assignments.csv"), "refused"),
    "a device": (_a_device, "refused"),
    "a link to a device": (_a_link("link to device", _a_device), "refused"),
    "a pipe": (_a_pipe, "refused"),
    "a link to the table": (_a_link("link", _named("cohort.csv")), "refused"),
    "a folder below a file": (_below_a_file, "refused"),
    "a loop of links": (_a_loop, "refused"),
    "a name that is too long": (_with_suffix("x" * 300), "refused"),
    "a path that is too long": (_with_suffix("x/" * 3000), "refused"),
    "the kernel's folder": (lambda folder, command: f"/proc/x{_SUFFIX[command]}", "refused"),
    "the root": (lambda folder, command: "/proc", "refused"),
}


def _prepared(folder):
    """Write a table, a schema and a model to the folder."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 20)
    frame = pd.DataFrame({"who": [f"p{row}" for row in range(40)], "falls": rng.poisson(1 + 12 * groups)})
    frame["visits"] = rng.poisson(2 + 9 * groups)
    frame.to_csv(folder / "cohort.csv", index=False)
    features = [{"name": "who", "role": "id"}]
    features += [{"name": name, "likelihood": "poisson"} for name in ("falls", "visits")]
    (folder / "schema.yaml").write_text(yaml.safe_dump({"clinclust": 1, "features": features}), encoding="utf-8")
    code, said = _run(_arguments("fit", folder, folder / "model"))
    assert code == 0, said


def _run(arguments, limit=None):
    """Run the command; return its exit code and all that it said."""
    with _limited(limit):
        code, out, err = ran(*arguments)
    return code, out + err


@contextlib.contextmanager
def _limited(limit):
    if limit is None:
        yield
        return
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def _inputs(folder):
    paths = [folder / "cohort.csv", folder / "schema.yaml", *sorted((folder / "model").iterdir())]
    return {path: path.read_bytes() for path in paths}


def _fault(about, code, said, expected, before, folder):
    if code not in ((2,) if expected == "refused" else (0, 2, 3)):  # 3: the model was written, and a report was not
        return f"{about}: exit {code}: {said[-300:]}"
    if "Traceback" in said or "[Errno" in said or len(said) > _LONGEST or ".clinclust-" in said:
        return f"{about}: said {said[-300:]}"
    after = _inputs(folder)
    allowed = {folder / "schema.yaml"} if about.startswith("draft to the schema") else set()
    changed = [path.name for path in before if path not in allowed and after.get(path) != before[path]]
    if changed or len(after) != len(before):
        return f"{about}: {changed or 'the folder of the model'} changed"
    if code and not said.strip():
        return f"{about}: no message"
    left = list(folder.rglob(".clinclust-*")) + list(folder.rglob("openpyxl.*"))
    return f"{about}: left {left[0].name}" if left else None


ATTACKS = (
    Attack("places: odd outputs of every command", odd_places, smoke=10, full=80),
    Attack("places: full disks", full_disks, smoke=2, full=50),
    Attack("places: limits of the size of files", limits_of_size, smoke=2, full=100),
)
