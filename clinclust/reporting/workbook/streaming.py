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

        path = self._folder / f"sheet {len(self._files) + 1}.xml"
        file: Any = _SheetFile(path)
        self._files.append(file)
        self._worksheets.append(worksheet)
        writer = _writer.WorksheetWriter(worksheet, out=file)
        writer.write_top()
        worksheet._writer = writer
        # From now on openpyxl needs the path alone: it puts the file into the archive, removes it, and forgets it.
        writer.out = str(path)
        _writer.ALL_TEMP_FILES.append(writer.out)

    def finish(self) -> None:
        """Write all sheets to their ends."""
        for worksheet, file in zip(self._worksheets, self._files, strict=True):
            worksheet.close()
            file.close()

    def give_up(self) -> None:
        """Close what is still open, without a second error from a full disk."""
        from openpyxl.worksheet import _writer

        for worksheet, file in zip(self._worksheets, self._files, strict=True):
            file.give_up()
            # A streamed sheet that is not closed raises a second error when it is garbage-collected.
            with suppress(Exception):
                worksheet.close()
            with suppress(ValueError, AttributeError):
                _writer.ALL_TEMP_FILES.remove(worksheet._writer.out)


@contextmanager
def sheet_files(folder: Path) -> Iterator[SheetFiles]:
    """Yield the files of the sheets of one workbook; they are closed at the end, and vanish with `folder`."""
    files = SheetFiles(folder)
    try:
        yield files
    finally:
        files.give_up()


class _SheetFile:
    """A binary file that can be given up: then it takes what is still written to it, and keeps nothing."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._given_up = False

    def write(self, content: bytes) -> int:
        return len(content) if self._given_up else self._file.write(content)

    def close(self) -> None:
        self._file.close()

    def give_up(self) -> None:
        self._given_up = True
        with suppress(OSError):
            self._file.close()
