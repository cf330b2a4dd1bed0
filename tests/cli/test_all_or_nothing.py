"""The files of a fit appear whole or not at all; one that fails does not cost the others."""

from pathlib import Path

import pytest
from command_line import FILES, FIT, SCHEMA_OPTION, refused

from clinclust import MAPDP
from clinclust.cli import main


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("failing", ["model", "assignments", "last place"])
def test_a_set_of_files_appears_whole_or_not_at_all(failing, earlier, here, capsys, monkeypatch):
    arguments = ["fit", "cohort.csv", *SCHEMA_OPTION, "--out", "deep/out", "--restarts", "2", "--overwrite"]
    if earlier:
        assert main([*arguments, "--seed", "7"]) == 0
        capsys.readouterr()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    if failing == "model":
        monkeypatch.setattr(MAPDP, "save", full)
    elif failing == "assignments":
        monkeypatch.setattr("clinclust.reporting.assignments.write_assignments", full)
    else:
        replace = Path.replace

        def locked(self, target):
            if Path(target) == Path("deep/out/subtypes.xlsx") and self.parent.name == "new":
                raise PermissionError(13, "the file is open elsewhere")
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", locked)
    message = refused(capsys, *arguments)
    assert "the disk is full" in message or "subtypes.xlsx cannot be written: you have no permission" in message


@pytest.mark.parametrize("failing", ["subtypes.xlsx", "subtypes.html"])
def test_a_report_that_fails_costs_neither_the_model_nor_the_other_report(failing, here, capsys, monkeypatch):
    from clinclust.reporting import writing

    assert main([*FIT, "--seed", "7"]) == 0
    capsys.readouterr()
    write = writing.write_findings

    def full(findings, path, *more, **options):
        if path.name == failing:
            raise OSError(28, "No space left on device")
        write(findings, path, *more, **options)

    monkeypatch.setattr(writing, "write_findings", full)
    assert main([*FIT, "--overwrite"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"clinclust: {failing} was not written: the disk is full; free some space")
    # The report of the earlier run is gone, and not beside the model of this one.
    assert sorted(path.name for path in Path("out").iterdir()) == [name for name in FILES if name != failing]
    assert MAPDP.load("out").random_seed_ == 0
    assert failing not in out


def test_what_was_fitted_is_kept_when_a_name_is_that_of_no_subtype(here, capsys):
    assert main([*FIT, "--name", "7=Rare", "--name", "1=Common"]) == 2
    out, err = capsys.readouterr()
    assert (
        err == "clinclust: --name: there is no subtype 7; they are numbered 1 to 2; the reports leave this name out\n"
    )
    assert "2 subtypes among 40 subjects" in out
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    page = Path("out/subtypes.html").read_text(encoding="utf-8")
    assert "1 Common" in page
    assert "Rare" not in page


def test_what_was_fitted_is_kept_when_the_cohort_is_too_small_to_share(here, capsys):
    assert main([*FIT, "--suppress", "40"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("clinclust: subtypes.xlsx and subtypes.html were not written: 40 subjects in subtypes of")
    assert "For sharing" not in out
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "assignments.csv",
        "manifest.json",
        "model.json",
        "model.npz",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--name", "Mild"], "--name takes the number"),
        (["--min-size", "0", "--significance-level", "2", "--suppress", "1", "--name", "x=y"], "--min-size"),
        (["--suppress", "41"], "--suppress 41 withholds everything of 40 subjects"),
    ],
)
def test_what_can_be_known_before_the_fit_does_not_cost_one(options, said, here, capsys, monkeypatch):
    def never(*arguments):
        raise AssertionError("a fit began")

    monkeypatch.setattr(MAPDP, "fit", never)
    message = refused(capsys, *FIT, *options)
    assert said in message
    if "--min-size" in options:
        for other in ("--significance-level must", "--suppress must", "--name takes"):
            assert other in message
