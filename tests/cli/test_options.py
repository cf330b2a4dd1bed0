"""Messages of the library name parameters; at the command line they name the options that set them."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust.cli.entry import main  # noqa: F401 - it declares every option
from clinclust.cli.options import in_options, join_names


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("give `header_row`, which is 1", "give --header-row, which is 1"),
        ("header_row=N, or header_row=0", "--header-row N, or --header-row 0"),
        ("decimal=',' or decimal='.'", "--decimal , or --decimal ."),
        ("raise `n_restarts` and `random_state`", "raise --n-restarts and --seed"),
        ("drop=['a#2', 'b, c']", """--drop 'a#2,"b, c"'"""),
        ("by='-1'", "--by=-1"),
        ("list them under `missing_codes`", "list them under `missing_codes`"),
        ('declare `decimal: ","`, x=1', 'declare `decimal: ","`, x=1'),
        ("where='it was sho...", "where='it was sho..."),
    ],
)
def test_parameters_are_shown_as_options(said, shown):
    assert in_options(said) == shown


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1))
def test_a_value_can_be_pasted(text):
    words = shlex.split(in_options(f"where={text!r}"))
    assert words in (["--where", text], [f"--where={text}"])


def test_names_with_commas_are_quoted_in_lists():
    assert join_names("a", "b, c", 'd"') == 'a,"b, c","d"""'
