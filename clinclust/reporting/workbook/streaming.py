"""Stream the sheets of a workbook into files of our own, in place of the temporary files of openpyxl.

openpyxl writes each sheet to a file in the folder for temporary files, where it stays if the process is killed; it
holds values of patients. A full disk there ends in an error of lxml that names no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["SheetFiles", "sheet_files"]


class SheetFiles:
    """The files of the sheets of one workbook, in a folder.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[_SheetFile] = []
        self._worksheets: list[Any] = []

    def begin(self, worksheet: Any) -> None:
        """Open the file of a sheet; call it after the sheet is set up and before its first row."""
        from openpyxl.worksheet import _writer

        temporary: list[Any] = _writer.ALL_TEMP_FILES

        file = _SheetFile(self._folder / f"sheet {len(self._files) + 1}.xml")
        self._files.append(file)
        self._worksheets.append(worksheet)
        temporary.append(file)  # from which openpyxl takes it off when the sheet is in the archive
        writer = _writer.WorksheetWriter(worksheet, out=file)
        worksheet._writer = writer
        writer.write_top()

    def close(self) -> None:
        """Close all files. What was not written by now is given up, without a second error from a full disk."""
        from openpyxl.worksheet import _writer

        temporary: list[Any] = _writer.ALL_TEMP_FILES

        for worksheet, file in zip(self._worksheets, self._files, strict=True):
            file.give_up()
            # A streamed sheet that is not closed raises a second error when it is garbage-collected.
            with suppress(Exception):
                worksheet.close()
            with suppress(ValueError):
                temporary.remove(file)


@contextmanager
def sheet_files(folder: Path) -> Iterator[SheetFiles]:
    """Yield the files of the sheets of one workbook; they are closed at the end, and vanish with `folder`."""
    files = SheetFiles(folder)
    try:
        yield files
    finally:
        files.close()


class _SheetFile:
    """A binary file that openpyxl can write to as a file, and name as a path when it reads and removes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._given_up = False

    def write(self, content: bytes) -> int:
        return len(content) if self._given_up else self._file.write(content)

    def give_up(self) -> None:
        self._given_up = True
        with suppress(OSError):
            self._file.close()

    def __fspath__(self) -> str:
        if not self._given_up:
            self._file.flush()
        return str(self._path)
