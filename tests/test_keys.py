from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.keys import ANTHROPIC, LONGEST, OPENAI, find_key

KEY = "sk-of-a-test-0123456789"


def found(environ: dict[str, str], tmp_path: Path, **fields: object) -> str | None:
    key = find_key(ANTHROPIC, environ, secrets=tmp_path / "secrets", **fields)  # type: ignore[arg-type]
    return key.get_secret_value() if key else None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    return path


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secrets" / "anthropic_api_key"
    path.parent.mkdir()
    path.write_text("the-secret")
    return path


def test_each_place_it_may_lie_in(tmp_path: Path, file: Path, secret: Path) -> None:
    assert found({}, tmp_path, file=file) == KEY
    assert found({ANTHROPIC: f" {KEY} "}, tmp_path) == KEY
    assert found({f"{ANTHROPIC}_FILE": str(file)}, tmp_path) == KEY
    assert found({}, tmp_path) == "the-secret"
    secret.unlink()
    assert found({}, tmp_path) is None


def test_the_nearest_place_is_the_one_that_counts(tmp_path: Path, file: Path, secret: Path) -> None:
    both = {ANTHROPIC: "variable", f"{ANTHROPIC}_FILE": str(file)}
    assert found(both, tmp_path, file=secret) == "the-secret"
    assert found(both, tmp_path) == "variable"
    assert found({**both, ANTHROPIC: ""}, tmp_path) == KEY  # Compose sets what nobody gave to ""


def test_an_empty_secret_is_none(tmp_path: Path, secret: Path) -> None:
    secret.write_bytes(b"")  # what Compose mounts where no file was named
    assert found({}, tmp_path) is None


def test_each_provider_has_its_own(tmp_path: Path) -> None:
    environ = {ANTHROPIC: "one", OPENAI: "two"}
    key = find_key(OPENAI, environ, secrets=tmp_path)
    assert key is not None
    assert key.get_secret_value() == "two"


@pytest.mark.parametrize(
    "content",
    [b"two\nlines", b"a\r\nx-evil: 1", b"\xff\xfe", "schlüssel".encode(), b"a b", b"a\0b",
     b"k" * (LONGEST + 1)],
)  # fmt: skip
def test_what_is_no_key_is_refused_and_not_repeated(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="no key") as refused:
        found({}, tmp_path, file=path)
    assert content.decode("latin-1") not in str(refused.value)
    with pytest.raises(UsageError, match="no key"):
        found({ANTHROPIC: "two\nlines"}, tmp_path)


def test_a_file_that_was_named_has_to_be_there_and_hold_one(tmp_path: Path) -> None:
    for environ, fields in (
        ({}, {"file": tmp_path / "none"}),
        ({f"{ANTHROPIC}_FILE": str(tmp_path / "none")}, {}),
    ):
        with pytest.raises(UsageError, match="cannot be read"):
            found(environ, tmp_path, **fields)
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        found({}, tmp_path, file=tmp_path / "empty")


def test_it_does_not_print_itself(tmp_path: Path) -> None:
    key = find_key(ANTHROPIC, {ANTHROPIC: KEY}, secrets=tmp_path)
    assert KEY not in f"{key} {key!r}"
