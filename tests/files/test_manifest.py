"""The manifest tells which files of a folder are missing or changed, and is refused where it cannot tell."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust.errors import InputError
from clinclust.files.manifest import MANIFEST, changed_files, read_manifest, write_manifest

WHOLE = {"clinclust_manifest": 1, "sha256": {"a": "0" * 64}}


def test_the_checksums_are_those_of_sha256sum(tmp_path):
    (tmp_path / "b").write_bytes(b"abc")
    (tmp_path / "a").write_bytes(b"")
    write_manifest(tmp_path, ["b", "a"])
    # printf abc | sha256sum; printf "" | sha256sum
    assert json.loads((tmp_path / MANIFEST).read_text()) == {
        "clinclust_manifest": 1,
        "sha256": {
            "a": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "b": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        },
    }
    assert list(read_manifest(tmp_path)) == ["a", "b"]


def test_missing_and_changed_files_are_named(tmp_path):
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_text(name)
    write_manifest(tmp_path, ["a", "b", "c", "d"])
    assert changed_files(tmp_path, read_manifest(tmp_path)) == []
    (tmp_path / "b").write_text("B")
    (tmp_path / "c").unlink()
    (tmp_path / "d").unlink()
    (tmp_path / "d").mkdir()
    assert changed_files(tmp_path, read_manifest(tmp_path)) == ["b", "c", "d"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b" " * 1_000_001,
        json.dumps({**WHOLE, "clinclust_manifest": True}).encode(),
        json.dumps({**WHOLE, "clinclust_manifest": 2}).encode(),
        json.dumps({**WHOLE, "more": 1}).encode(),
        json.dumps({**WHOLE, "sha256": []}).encode(),
        json.dumps({**WHOLE, "sha256": {"a": "0" * 63}}).encode(),
        json.dumps({**WHOLE, "sha256": {"a": 1}}).encode(),
        *(
            json.dumps({**WHOLE, "sha256": {name: "0" * 64}}).encode()
            for name in ("../a", "/a", "", "..", "a\\b", "C:")
        ),
        json.dumps({**WHOLE, "sha256": {MANIFEST: "0" * 64}}).encode(),
    ],
    ids=lambda content: repr(content[:40]),
)
def test_a_damaged_manifest_is_refused_by_name_with_the_repair(tmp_path, content):
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(InputError, match=rf"{MANIFEST} .*write the folder again") as caught:
        read_manifest(tmp_path)
    assert len(str(caught.value)) < 1000


def test_a_missing_manifest_is_refused_by_name_with_the_repair(tmp_path):
    with pytest.raises(InputError, match=rf"{MANIFEST} is missing.*write the folder again"):
        read_manifest(tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_bad_input(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(InputError):
        read_manifest(folder)
