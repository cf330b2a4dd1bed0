"""The site: `sphinx-build -W -c docs . site`, from the documents of the repository where they stand.

Links hold in the repository and on the site alike. Nothing on the site is loaded from elsewhere.
"""

import os
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

import clinclust

sys.path.insert(0, str(Path(__file__).parent))
project, release = "clinclust", clinclust.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "executed"]
executed_pages = ["docs/tutorial", "docs/gallery"]
root_doc = "README"
include_patterns = ["*.md", *(f"{folder}/**" for folder in ("docs", "reports", "examples", "schemas", "benchmarks"))]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}  # the first is that of the pages of functions
default_role = "py:obj"
highlight_language = "none"

html_theme = "furo"
html_title = f"clinclust {release}"
html_show_sourcelink = html_show_copyright = False
html_static_path, html_css_files = ["site.css"], ["site.css"]
# The versions that `.ci/site` builds side by side; without it there is one.
templates_path, html_context = ["templates"], {"versions": os.environ.get("SITE_VERSIONS", "").split()}
parts = ("brand", "search", "scroll-start", "navigation", "scroll-end")
html_sidebars = {"**": [f"sidebar/{part}.html" for part in parts[:-1]] + ["versions.html", "sidebar/scroll-end.html"]}

# Results are linked where they are told of, and arguments may have the name of an attribute.
suppress_warnings = ["toc.not_included", "ref.python"]
myst_heading_anchors = 3
autodoc_default_options = {"members": True, "inherited-members": "BaseModel, Exception, UserWarning, object"}
autodoc_typehints = "none"  # the docstrings say what arguments are
napoleon_use_ivar, napoleon_use_rtype = True, False

CONTENTS = {
    "First steps": """
        Tutorial <docs/tutorial>
        One command <docs/first_table>
        Gallery <docs/gallery>
        Choosing a tool <docs/choosing>""",
    "Tables and schemas": """
        Reading files <docs/reading_files>
        Drafting a schema <docs/drafting>
        Likelihoods <docs/likelihoods>
        Ready schemas <schemas/README>
        pandera <docs/pandera>
        Visits <docs/visits>
        Missing values <docs/missing_values>""",
    "Subtypes": """
        How many subtypes <docs/number_of_subtypes>
        Trust <docs/trust>
        Outcomes <docs/outcomes>
        New patients <docs/new_subjects>
        Several cohorts <docs/several_cohorts>
        Sites that may not pool <docs/sites>
        Large cohorts <docs/large_cohorts>
        Sharing <docs/sharing>
        Writing up <docs/writing_up>
        Questions of users <docs/questions>
        From R <docs/from_r>""",
    "Reference": """
        Pages and words <docs/index>
        Command line <docs/command_line>
        Python <docs/python>
        docs/reference
        docs/mapdp-parameters
        The mathematics <docs/model>
        reports/README""",
    "Evidence": """
        What was measured <docs/measured>
        examples/*/README
        benchmarks/README
        benchmarks/LIMITS
        benchmarks/RESULTS""",
    "Project": """
        ARCHITECTURE
        CONTRIBUTING
        CHANGELOG
        Licences <docs/licences>""",
}


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Add the contents of the site to its first page."""
    for title, pages in CONTENTS.items() if name == root_doc else ():
        listed = "\n".join(page.strip() for page in pages.split("\n"))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n{listed}\n```\n"


def keep_formulas(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """Show the formulas of a docstring, which are indented, as they stand, and |x| as an absolute value."""
    found: list[str] = []
    is_formula = False
    for line in lines:
        before = next((earlier for earlier in reversed(found) if earlier), " ")
        is_formula = is_formula and (not line or line.startswith("    "))
        if line.startswith("    ") and found and not found[-1] and not before.startswith(" "):
            found += ["::", ""]
            is_formula = True
        found.append(line if is_formula or ">>>" in line or "``" in line else line.replace("|", r"\|"))
    lines[:] = found


def begin_with_the_readme(app: Sphinx, error: Exception | None) -> None:
    """Let the site begin at `index.html`."""
    if error is None and app.builder.format == "html":
        shutil.copyfile(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Connect what the site adds."""
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", keep_formulas, priority=400)  # before sections become fields
    app.connect("build-finished", begin_with_the_readme)
