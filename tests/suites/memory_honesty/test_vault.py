import hashlib
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import load_vault, make_vault
from tests.suites.memory_honesty._kit import BACKUPS, FILES, LEAVE, OLD_BACKUPS, write


def test_a_vault_is_read_from_all_its_folders_in_the_order_of_names(tmp_path: Path) -> None:
    read = load_vault("vault1", folder=write(tmp_path))
    assert [page.name for page in read.pages] == sorted(FILES)
    assert {page.name: page.text for page in read.pages} == FILES
    listed = (tmp_path / "vault1.sha256").read_bytes()
    assert read.sha256 == hashlib.sha256(listed).hexdigest()
    assert read == make_vault("vault1", FILES)


@pytest.mark.parametrize("prefix", ["./", "vault1/", "./vault1/"])
def test_digests_may_be_listed_from_above_the_vault(tmp_path: Path, prefix: str) -> None:
    path = write(tmp_path) / "vault1.sha256"
    path.write_text(path.read_text().replace("  ", f"  {prefix}"))
    assert load_vault("vault1", folder=tmp_path) == make_vault("vault1", FILES)


def test_a_variant_is_held_to_the_digests_of_the_files_it_is_made_from(tmp_path: Path) -> None:
    write(tmp_path)
    assert load_vault("vault1", "prose", folder=tmp_path) == make_vault("vault1", FILES, "prose")
    (tmp_path / "vault1" / LEAVE).write_text(FILES[LEAVE] + "\n")
    with pytest.raises(UsageError, match=r"not the vault that was registered: Leave\.md\."):
        load_vault("vault1", "prose", folder=tmp_path)


def test_a_file_more_or_less_is_seen(tmp_path: Path) -> None:
    write(tmp_path)
    extra = tmp_path / "vault1" / "Extra.md"
    extra.write_text(FILES[LEAVE])
    with pytest.raises(UsageError, match=r"Extra\.md"):
        load_vault("vault1", folder=tmp_path)
    extra.unlink()
    (tmp_path / "vault1" / LEAVE).unlink()
    with pytest.raises(UsageError, match=r"Leave\.md"):
        load_vault("vault1", folder=tmp_path)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("vault9", "../vault1", "vault1/Ops"):
        with pytest.raises(UsageError, match="There is no vault"):
            load_vault(name, folder=tmp_path)
    with pytest.raises(UsageError, match="There is no marker 'date'"):
        load_vault("vault1", "date", folder=tmp_path)  # type: ignore[arg-type]
    (tmp_path / "vault1.sha256").write_text("nothing\n")
    with pytest.raises(UsageError, match="line 1 is no digest"):
        load_vault("vault1", folder=tmp_path)
    (tmp_path / "vault1.sha256").unlink()
    with pytest.raises(UsageError, match=r"digests of vault1 are not there"):
        load_vault("vault1", folder=tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "vault1" / LEAVE
    path.write_bytes(b"---\n\xff\n")
    listed = tmp_path / "vault1.sha256"
    old = hashlib.sha256(FILES[LEAVE].encode()).hexdigest()
    listed.write_text(
        listed.read_text().replace(old, hashlib.sha256(path.read_bytes()).hexdigest())
    )
    with pytest.raises(UsageError, match=r"Leave\.md"):
        load_vault("vault1", folder=tmp_path)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "no page"),
        ({"note.txt": FILES[LEAVE]}, r"v/note\.txt: not a Markdown page"),
        ({"a.md": "text"}, r"v/a\.md: front matter"),
        ({OLD_BACKUPS: FILES[OLD_BACKUPS]}, r"there is no page 'Ops/Backups\.md'"),
        (
            {
                OLD_BACKUPS: FILES[OLD_BACKUPS],
                BACKUPS: FILES[OLD_BACKUPS].replace(BACKUPS, OLD_BACKUPS),
            },
            "replaced by itself",
        ),
        ({BACKUPS: FILES[OLD_BACKUPS]}, "replaced by itself"),
    ],
)
def test_a_vault_does_not_contradict_itself(files: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make_vault("v", files)


def test_a_page_may_be_replaced_by_one_that_was_replaced_itself() -> None:
    older = FILES[OLD_BACKUPS].replace(BACKUPS, OLD_BACKUPS)
    made = make_vault("v", {**FILES, "oldest.md": older}, "prose")
    page = next(page for page in made.pages if page.name == "oldest.md")
    assert page.text.endswith("replaced by “Backups [2024]” on 1 May 2024.\n")
