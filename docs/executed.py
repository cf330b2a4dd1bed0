"""Pages whose Python runs when the site is built: what each block prints, and its last value, are shown below it.

`executed_pages` in `conf.py` names them, in order; a page goes on with the names of those before it. They run in a
folder of their own that has the tables beside them. The first is also written as a Jupyter notebook, `<page>.ipynb`.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Output(NamedTuple):
    """What a block gave: a MIME type and its content, text but for an image, which is base64."""

    kind: str
    content: str

    def as_markdown(self) -> str:
        """Return it as it stands on a page."""
        if self.kind == "text/plain":
            return f"```text\n{self.content.rstrip()}\n```"
        if self.kind == "image/png":
            return f'```{{raw}} html\n<img alt="figure" src="data:image/png;base64,{self.content}">\n```'
        return f'```{{raw}} html\n<div class="output">{self.content}</div>\n```'


def run(code: str, names: dict[str, Any], place: str) -> Iterator[Output]:
    """Run a block, and yield its warnings, what it printed, and the value of its last line."""
    tree, value, printed = ast.parse(code), None, io.StringIO()
    last = tree.body.pop().value if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    with redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        exec(compile(tree, place, "exec"), names)  # noqa: S102
        if last is not None:
            value = eval(compile(ast.Expression(last), place, "eval"), names)  # noqa: S307
    said = [f"{warning.category.__name__}: {warning.message}\n" for warning in warned]
    if text := "".join([*said, printed.getvalue()]):
        yield Output("text/plain", text)
    if isinstance(value, Figure):
        drawn = io.BytesIO()
        value.savefig(drawn, format="png", dpi=110, bbox_inches="tight")
        yield Output("image/png", base64.b64encode(drawn.getvalue()).decode())
    elif hasattr(value, "_repr_html_"):
        yield Output("text/html", value._repr_html_())
    elif value is not None:
        yield Output("text/plain", repr(value))


def with_outputs(text: str, names: dict[str, Any], page: str) -> tuple[str, dict[str, Any]]:
    """Return a page with the outputs of its blocks, and the page as a notebook."""
    shown, cells, end = [], [], 0
    for block in BLOCK.finditer(text):
        try:
            outputs = list(run(block[1], names, page))
        except Exception as error:
            raise ExtensionError(f"{page}: this block failed\n{block[1]}", error) from error
        between = text[end : block.start()]
        shown += [between, block[0], *(f"\n\n{output.as_markdown()}" for output in outputs)]
        cells += [_cell("markdown", between), _cell("code", block[1].rstrip(), outputs)]
        end = block.end()
    shown.append(text[end:])
    cells.append(_cell("markdown", text[end:]))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return "".join(shown), {"nbformat": 4, "nbformat_minor": 4, "metadata": {"kernelspec": kernel}, "cells": cells}


def _cell(kind: str, source: str, outputs: list[Output] | None = None) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.strip("\n")}
    if outputs is None:
        return cell
    shown = [{"output_type": "display_data", "metadata": {}, "data": {one.kind: one.content}} for one in outputs]
    return cell | {"execution_count": None, "outputs": shown}


def run_pages(app: Sphinx) -> None:
    """Run the pages in their order, before any page is read."""
    source, names, app.executed = Path(app.srcdir), {}, {}  # type: ignore[attr-defined, var-annotated]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for table in (source / app.config.executed_pages[0]).parent.glob("*.csv"):
            shutil.copy(table, folder)
        for page in app.config.executed_pages:
            text = (source / f"{page}.md").read_text(encoding="utf-8")
            app.executed[page], notebook = with_outputs(text, names, page)  # type: ignore[attr-defined]
            if len(app.executed) == 1:  # type: ignore[attr-defined]
                path = Path(app.outdir) / f"{page}.ipynb"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def show_outputs(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the page with its outputs in the place of the page."""
    source[0] = app.executed.get(name, source[0])  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect what the extension adds."""
    app.add_config_value("executed_pages", [], "env")
    app.connect("builder-inited", run_pages)
    app.connect("source-read", show_outputs)
    return {"parallel_read_safe": False}
