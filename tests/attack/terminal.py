"""Names and values of the data that would command a terminal, forge a line, or hide; and outputs that fail."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from hostile_texts import ON_TERMINALS

from attack.attempts import Attack, ran
from attack.reading import LONGEST_MESSAGE

_LIVE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\U000e0000-\U000e007f]"
)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def names_on_the_terminal(count, rng, folder):
    """Run every command with hostile names of columns, levels, files, sheets, keys and options."""
    for number in range(count):
        name = ON_TERMINALS[number % len(ON_TERMINALS)]
        kind, arguments = _arguments(number // len(ON_TERMINALS) + number, name, folder)
        code, out, err = ran(*arguments, stream=Terminal)
        yield _fault(f"{kind} with {name[:20]!r}", code, out, err, "--debug" in arguments)


def _fault(about, code, out, err, debug):
    live = _LIVE.search(out + err)
    if live:
        return f"{about}: {live[0]!r} reached the terminal"
    if code not in (0, 2):
        return f"{about}: exit {code}: {err[-200:]}"
    if any(re.match("clinclust: (note: forged|done)|Traceback", line) for line in err.splitlines()) and not debug:
        return f"{about}: a line was forged: {err[:200]!r}"
    if len(err) > LONGEST_MESSAGE and not debug:
        return f"{about}: a message of {len(err)} characters"
    if code and not err.strip():
        return f"{about}: no message"
    return None


def _arguments(number, name, folder):
    """Return what is tried, and the arguments; the files that they need are made."""
    table, schema = folder / "cohort.csv", folder / "schema.yaml"
    column = f"x{name}"
    _write_csv(table, [column, "falls"], [[name, "1"], [f"{name} 2", "many"], ["c", "3"], ["d", name]])
    known = {"clinclust": 1, "features": [{"name": "falls", "likelihood": "poisson"}]}
    kinds = {
        "draft": lambda: ["draft", str(table)],
        "values": lambda: ["check", str(table), "--schema", _schema(schema, known)],
        "column": lambda: ["check", str(table), "--schema", _schema(schema, _with(known, name=column))],
        "levels": lambda: [
            *("check", str(table), "--schema"),
            _schema(schema, _with(known, name=column, likelihood="categorical", levels=[f"q{name}", "b"])),
        ],
        "key": lambda: ["check", str(table), "--schema", _schema(schema, {**known, column: 1})],
        "missing column": lambda: ["check", str(table), "--schema", _schema(schema, _with(known, name=f"no{name}"))],
        "file": lambda: ["check", str(folder / f"no{_for_a_path(name)}.csv"), "--schema", _schema(schema, known)],
        "schema file": lambda: ["check", str(table), "--schema", str(folder / f"no{_for_a_path(name)}")],
        "option": lambda: ["check", str(table), f"--{_for_a_path(name)}", "--schema", _schema(schema, known)],
        "command": lambda: [_for_a_path(name)],
        "sheet": lambda: ["check", str(table), "--sheet", _for_a_path(name), "--schema", _schema(schema, known)],
        "encoding": lambda: ["check", str(table), "--encoding", _for_a_path(name), "--schema", _schema(schema, known)],
        "out": lambda: ["draft", str(table), "--out", str(folder / f"no{_for_a_path(name)}" / "schema.yaml")],
        "debug": lambda: ["--debug", "check", str(table), "--schema", _schema(schema, known)],
        "model": lambda: ["assign", str(table), "--model", str(folder / f"no{_for_a_path(name)}")],
        "name": lambda: ["fit", str(table), "--schema", _schema(schema, known), "--out", "o", "--name", f"1{name}"],
        "level": lambda: ["fit", str(table), "--schema", _schema(schema, known), "--out", "o", "--n-jobs", f"1{name}"],
    }
    kind = list(kinds)[number % len(kinds)]
    arguments = [argument.replace("\x00", "") for argument in kinds[kind]()]  # no system hands these to a program
    return kind, arguments


def _with(schema, **feature):
    return {**schema, "features": [*schema["features"], {"likelihood": "poisson", **feature}]}


def _schema(path, content):
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(path)


def _for_a_path(name):
    return name.replace("/", "").replace("\x00", "")


def _write_csv(path, header, rows):
    lines = [",".join('"' + field.replace('"', '""') + '"' for field in row) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_STREAMS = {
    "closed output": ">&-", "closed error": "2>&-", "both closed": ">&- 2>&-", "all closed": "<&- >&- 2>&-",
    "full output": "> /dev/full", "full error": "2> /dev/full", "both full": "> /dev/full 2>&1", "closed pipe": "",
}  # fmt: skip


def failing_streams(count, rng, folder):
    """Run commands as processes whose output or errors are closed, full or no longer read."""
    table, schema = folder / "t.csv", folder / "s.yaml"
    _write_csv(table, ["who", "falls"], [[f"p{row}", str(row % 4)] for row in range(4000)])
    features = [{"name": "who", "role": "id"}, {"name": "falls", "likelihood": "poisson"}]
    _schema(schema, {"clinclust": 1, "features": features})
    commands = {
        "check": (f"check {table} --schema {schema}", 0),
        "refusal": (f"check {table} --schema {folder}/none.yaml", 2),
        "draft": (f"draft {table}", 0),
        "help": ("--help", 0),
        "arguments": ("check --none", 2),
    }
    tries = [(command, stream) for command in commands for stream in _STREAMS]
    for number in range(count):
        command, stream = tries[number % len(tries)]
        yield _stream_fault(command, stream, *commands[command])


def _stream_fault(command, stream, arguments, usual):
    line = f"exec {sys.executable} -m clinclust {arguments} {_STREAMS[stream]}"
    writer = None
    if stream == "closed pipe":
        reader, writer = os.pipe()
        os.close(reader)
    done = subprocess.run(
        ["sh", "-c", line],
        stdout=writer if writer is not None else subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    if writer is not None:
        os.close(writer)
    expected = _expected(command, stream, usual)
    said = done.stderr.decode("utf-8", "replace")
    if "Traceback" in said or "Exception ignored" in said:
        return f"{command}, {stream}: {said[-300:]!r}"
    if done.returncode not in expected:
        return f"{command}, {stream}: exit {done.returncode}, not {expected}: {said}"
    return None


def _expected(command, stream, usual):
    """Return the exit codes that tell the truth: what could not be delivered is a failure."""
    if usual:
        return (usual,)
    if stream == "closed pipe":
        return (141,)
    if stream in ("full output", "both full"):
        return (2,)
    if command == "draft" and stream in ("closed output", "both closed", "all closed"):
        return (2,)
    return (0,)


ATTACKS = (
    Attack("terminal: hostile names", names_on_the_terminal, smoke=20, full=600),
    Attack("terminal: streams closed, full or not read", failing_streams, smoke=24, full=40),
)
