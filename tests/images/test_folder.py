import pytest

from runner.errors import UsageError
from runner.images import _folder, _source
from runner.systems import catalog
from tests.images.conftest import Make


def test_images_come_after_what_they_stand_on(make: Make) -> None:
    make("alone")
    make("a-memory", "ARG BENCH_THE_WEIGHTS", "ARG BENCH_MIDDLE=x")
    make("middle", "ARG BENCH_THE_WEIGHTS")
    make("the-weights")
    assert _folder.stands_on("a-memory") == ("middle", "the-weights")
    assert _folder.names() == ("base", "the-weights", "middle", "a-memory", "alone", "bench")


@pytest.mark.parametrize("line", ["# ARG BENCH_OTHER", "ENV BENCH_OTHER=1", "ARG OTHER", ""])
def test_nothing_else_is_taken_for_an_image(make: Make, line: str) -> None:
    make("other")
    make("some", line)
    assert _folder.stands_on("some") == ()


def test_every_name_has_an_argument() -> None:
    assert _folder.argument("the-weights") == "BENCH_THE_WEIGHTS"


def test_names_are_told_where_some_stand_on_each_other_or_on_nothing(make: Make) -> None:
    make("one", "ARG BENCH_TWO")
    make("two", "ARG BENCH_ONE")
    make("three", "ARG BENCH_GONE")
    assert sorted(_folder.names()) == ["base", "bench", "one", "three", "two"]


def test_only_locks_named_after_a_version_are_one(make: Make) -> None:
    make("some", "ARG VERSION=0.9.1", locks=("0.10.0.txt", "0.9.1.txt", "model.txt", "1.0.json"))
    assert _folder.versions("some") == ("0.9.1", "0.10.0")
    make("other", locks=("model.txt",))
    assert _folder.versions("other") == ()


SYSTEM = '[image]\nmodels = ["small", "large"]\n'


def test_a_model_changes_digest_and_tag_and_the_default_does_not(make: Make) -> None:
    make("some", "ARG MODEL=small", system=SYSTEM)
    usual, small, large = (_source.recipe("some", model=one) for one in (None, "small", "large"))
    assert usual == small
    assert (usual.model, usual.args["MODEL"]) == ("small", "small")
    assert (large.model, large.args["MODEL"]) == ("large", "large")
    assert large.source == usual.source
    assert large.tag != usual.tag


def test_versions_and_models_make_an_image_each(make: Make) -> None:
    make(
        "some",
        "ARG VERSION=1.0\nARG MODEL=small",
        system=SYSTEM,
        locks=("1.0.txt", "0.9.txt"),
    )
    made = [
        _source.recipe("some", version=version, model=model)
        for version in ("1.0", "0.9")
        for model in ("small", "large")
    ]
    assert len({one.digest for one in made}) == 4
    assert [(one.version, one.model) for one in made] == [
        ("1.0", "small"),
        ("1.0", "large"),
        ("0.9", "small"),
        ("0.9", "large"),
    ]


def test_a_model_that_cannot_be_baked_in_is_named_with_those_that_can(make: Make) -> None:
    make("some", "ARG MODEL", system=SYSTEM)
    make("plain")
    with pytest.raises(UsageError, match=r"some cannot be built with model 'huge'.*small, large"):
        _source.recipe("some", model="huge")
    with pytest.raises(UsageError, match=r"with model 'small'.*There are: none"):
        _source.recipe("plain", model="small")
    with pytest.raises(UsageError, match=r"of version '2'.*its own and no other"):
        _source.recipe("plain", version="2")


def test_models_that_no_build_would_hear_of_are_an_error(make: Make) -> None:
    make("some", system=SYSTEM)
    with pytest.raises(UsageError, match="no ARG MODEL"):
        _folder.models("some")


@pytest.mark.parametrize(
    "table",
    [
        "redistributable = false",
        'redistributable = true\nwhy = "x"',
        'why = "x"',
        'models = ["a", "a"]',
        'models = ["a b"]',
        'models = ["--x"]',
        "other = 1",
        "= broken",
    ],
)
def test_a_wrong_table_says_which_file(make: Make, table: str) -> None:
    make("some", system=f"[image]\n{table}\n")
    with pytest.raises(UsageError, match=r"some/system\.toml"):
        _folder.restriction("some")


def test_what_may_not_be_handed_on_taints_what_holds_parts_of_it(make: Make) -> None:
    closed = '[image]\nredistributable = false\nwhy = """its licence\nforbids it"""\n'
    make("closed", system=closed)
    make("above", "ARG BENCH_CLOSED")
    make("free")
    assert _folder.restriction("closed") == "its licence forbids it"
    assert _folder.restriction("above") == "it holds parts of closed: its licence forbids it"
    assert [_folder.restriction(name) for name in ("free", "base", "bench")] == ["", "", ""]


def test_an_image_below_changes_the_digest(make: Make) -> None:
    make("below")
    make("some", "ARG BENCH_BELOW")
    seen = {
        _source.recipe("some", base_id="1", others=others).digest
        for others in (None, {"below": "sha256:1"}, {"below": "sha256:2"}, {"other": "sha256:1"})
    }
    assert len(seen) == 4


def test_what_the_bench_says_of_a_system_is_what_is_said_of_its_image() -> None:
    for system in catalog.load_all():
        assert _folder.restriction(system.image) == system.restriction
        assert _folder.models(system.image) == system.image_table.models
        assert set(_folder.versions(system.image)) in (
            set(),
            {system.version, *system.versions},
        )
        assert _folder.version(system.image) == system.version
