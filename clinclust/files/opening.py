"""Open the file of a table: check that it can be read, unpack it within bounds, and recognise its kind by content."""

from __future__ import annotations

import gzip
import importlib
import io
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from clinclust.data import data
from clinclust.errors import InputError, did_you_mean, missing_package, on_one_line
from clinclust.files import say
from clinclust.files.cell_text import limited, listed, quoted, shortened

_LONGEST_NAME = 255  # of most file systems
_SMALL = 100 * 2**20
_MOST_UNPACKED = 250  # times its size: tables reach 3 to 50, and deflate 1032
_NO_TABLE = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_KINDS = data("file_kinds")["kinds"]
_NAMED = {suffix: kind for kind, about in _KINDS.items() for suffix in about["suffixes"]}
_READ_FROM = ", ".join(suffix for suffix in _NAMED if suffix not in (".tab", ".dat", ".asc", ".xlsm"))
_SIGNATURES = {sign.encode("latin-1"): kind for kind, about in _KINDS.items() for sign in about.get("signatures", ())}
_REFUSED = data("file_kinds")["refused"]
_REFUSED_SUFFIXES = {suffix: refused["what"] for refused in _REFUSED for suffix in refused.get("suffixes", ())}
_REFUSED_STARTS = {sign.encode("latin-1"): kind["what"] for kind in _REFUSED for sign in kind.get("signatures", ())}
_PARTS = data("file_kinds")["parts_of_zip"]
_OLE, _ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
# a workbook with a password is an old container with this part
_LOCKED = "EncryptedPackage".encode("utf-16-le")
# hospital systems export web pages that are called `.xls`
_MARKUP = re.compile(rb"\s*<(?:!--|\?xml|(?:!doctype|html|head|meta|table|body|style|(?:\w+:)?workbook)\b)", re.I)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def shown_name(path: Path | str) -> str:
    """Return the name of a file, or a path as text, for a message, without characters that hide or reorder others."""
    text, longest = (path, 2 * _LONGEST_NAME) if isinstance(path, str) else (path.name or str(path), _LONGEST_NAME)
    text = on_one_line(text)
    return text if len(text) <= longest else text[:longest] + "…"


def check_readable(path: Path, *, may_be_empty: bool = False) -> int:
    """Return the size of a file in bytes; OSError if it is no regular file, InputError if it is empty."""
    shown = shown_name(str(path))
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        hint = ""
        with suppress(OSError):
            hint = did_you_mean(path.name, [file.name for file in path.parent.iterdir()])
        raise FileNotFoundError(f"there is no file {shown}.{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: the path holds a NUL
        kind = type(error) if isinstance(error, OSError) else OSError
        raise kind(f"{shown} cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(f"{shown} is a folder; give the name of a file")
    if not stat.S_ISREG(state.st_mode):
        raise OSError(f"{shown} is a pipe or a device, not a file; save what it gives to a file, and read that")
    if state.st_size == 0 and not may_be_empty:
        raise InputError(f"{shown_name(path)}: the file is empty")
    return state.st_size


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Make every error name the file, in a message of bounded length."""
    name = shown_name(path)
    try:
        yield
    except InputError as error:
        raise type(error)(limited(f"{name}: {error}")) from error
    except OSError as error:
        raise type(error)(f"{name} cannot be read: {error.strerror or error}") from error


def package(name: str, what: str) -> Any:
    """Return an imported package, or raise MissingPackageError with how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_package(f"reading {what}", name.replace("_", "-")) from None


@contextmanager
def guarded(what: str, repair: str) -> Iterator[None]:
    """Turn the errors that damaged files end in, which have many types, into InputError."""
    try:
        yield
    except (InputError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of a compiled reader is no Exception
        said = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(f"this {what} cannot be read ({type(error).__name__}: {said}): {repair}") from None


@dataclass(frozen=True)
class Source:
    """The bytes of a table, in a file or unpacked; `suffix` is ``.csv`` for ``cohort.CSV.gz`` too."""

    path: Path
    suffix: str
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """Return the bytes as a file to read, which the caller closes."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def read(self, length: int = -1) -> bytes:
        """Return all bytes, or the first."""
        with self.open() as file:
            return file.read(length)


def most_unpacked(packed: int) -> int:
    """Return to how many bytes so many may unpack, as tables do."""
    return max(_SMALL, _MOST_UNPACKED * packed)


def refuse_bomb(packed: int, length: int, what: str) -> None:
    """Raise InputError if so many bytes unpack to a length that no table of this size has."""
    if length > (most := most_unpacked(packed)):
        raise InputError(say("unpacks_too_far", what=what, before=packed / 2**20, after=most / 2**20))


def unpacked(path: Path) -> tuple[Source, list[str]]:
    """Return the table of a file, unpacked if the file is packed, and remarks; InputError if there is no one table."""
    source = Source(path, path.suffix.lower())
    start = source.read(4)
    if start.startswith(b"\x1f\x8b"):
        packed, is_named = path.stat().st_size, source.suffix == ".gz"
        with guarded("gzip file", "pack it again"), gzip.open(path) as stream:
            content = stream.read(most_unpacked(packed) + 1)
        refuse_bomb(packed, len(content), "this gzip file unpacks")
        name = path.name[:-3] if is_named else path.name
        remarks = [] if is_named else ["the file is packed with gzip, although its name does not say so"]
    elif start == _ZIP and source.suffix == ".zip":
        repair = "unpack it, and give the file in it, or pack it again"
        with guarded("zip file", repair), zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.file_size]
            tables = [entry for entry in entries if not any(part in entry.filename for part in _NO_TABLE)]
            if len(tables) != 1:
                held = listed(quoted(entry.filename) for entry in tables) or "no file"
                raise InputError(say("zip_without_one_table", files=held))
            name = tables[0].filename
            refuse_bomb(tables[0].compress_size, tables[0].file_size, "this zip file unpacks")
            content, remarks = archive.read(name), [f"read {quoted(name)}, the one file in this zip file"]
    elif source.suffix in (".gz", ".zip"):
        raise InputError(f"this is not a {source.suffix[1:]} file: give it the name of what it is, such as cohort.csv")
    else:
        return source, []
    return Source(path, PurePosixPath(name).suffix.lower(), content), remarks


def kind_of(source: Source) -> tuple[str, list[str]]:
    """Return the kind of a file, such as ``text``, and a remark if its name says another; InputError if it has none."""
    start, named = source.read(4000), _NAMED.get(source.suffix)
    kind = next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), None)
    for signature, what in _REFUSED_STARTS.items():
        if start.startswith(signature):
            raise InputError(f"this is {what}")
    if start.startswith(_OLE):
        if _LOCKED in source.read():
            raise InputError(say("locked_workbook"))
        kind = "xls"
    elif start.startswith(_ZIP):  # an archive has parts that only its kind has; without one, or damaged, it is xlsx
        names = set[str]()
        damage = (zipfile.BadZipFile, NotImplementedError, ValueError, IndexError)
        with suppress(*damage), source.open() as file, zipfile.ZipFile(file) as archive:
            names = {name.replace("\\", "/").lstrip("/").casefold() for name in archive.namelist()}
        kind = next((kind for part, kind in _PARTS.items() if part in names), "xlsx")
        if kind not in _KINDS:
            raise InputError(f"this is {kind}")
    kind = kind or _by_name(source.suffix, start, named)
    says = f"ends in {shortened(source.suffix)}" if source.suffix else "does not say so"
    remark = f"the file is {_KINDS[kind]['called']}, although its name {says}: read as such"
    return kind, [] if kind == named else [remark]


def _by_name(suffix: str, start: bytes, named: str | None) -> str:
    """Return the kind of a file whose first bytes prove none, which is text if its name allows that."""
    plain = re.sub(rb"^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff|\0", b"", start)  # text in UTF-16 too
    is_text = not _CONTROL.search(plain)
    if suffix in _REFUSED_SUFFIXES:
        raise InputError(f"this is {_REFUSED_SUFFIXES[suffix]}")
    if _MARKUP.match(plain):
        raise InputError(say("web_page"))
    if named == "xls" and is_text:
        return "text"
    if named == "dta" and start and start[0] in range(102, 116):  # versions before 117 have no longer signature
        return "dta"
    if named in ("text", "xlsx", "parquet"):
        return named  # whose readers say what is wrong
    if named is None:
        raise InputError(f"tables are read from {_READ_FROM}, not from {shortened(suffix) or 'no suffix'}")
    what = "text; if it is a table, let its name end in .csv" if is_text else "damaged, or something else"
    raise InputError(f"this is not {_KINDS[named]['called']}, but {what}")
