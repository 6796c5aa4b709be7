import jsonschema
import orjson
import pytest

from runner.paths import root
from tests.commands.conftest import Bench

PUBLISHED = root() / "docs" / "report.schema.json"


def test_the_published_schema_is_what_the_command_prints(bench: Bench) -> None:
    done = bench("schema")
    assert done.code == 0
    assert done.out == PUBLISHED.read_text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(orjson.loads(PUBLISHED.read_bytes()))


@pytest.mark.parametrize("case", ["reader", "mid-trip"])
def test_a_saved_report_follows_it(case: str, originals: dict[str, bytes]) -> None:
    schema = jsonschema.Draft202012Validator(orjson.loads(PUBLISHED.read_bytes()))
    document = orjson.loads(originals[case])
    assert [error.message for error in schema.iter_errors(document)] == []


def test_what_is_wrong_is_seen_where_it_is(originals: dict[str, bytes]) -> None:
    schema = jsonschema.Draft202012Validator(orjson.loads(PUBLISHED.read_bytes()))
    document = orjson.loads(originals["reader"])
    document["runs"][0]["ending"]["outcome"] = "won"
    del document["runs"][1]["spec"]["clock"]
    document["runs"][2]["colour"] = "red"
    wrong = {".".join(map(str, error.absolute_path)) for error in schema.iter_errors(document)}
    assert wrong == {"runs.0.ending.outcome", "runs.1.spec", "runs.2"}


def test_every_field_says_what_it_is_where_its_name_does_not() -> None:
    """Units and meanings travel with the schema."""
    kinds = orjson.loads(PUBLISHED.read_bytes())["$defs"]
    assert kinds["SnapshotRecord"]["properties"]["size"]["description"] == "Bytes of the archive."
    assert all("description" in kind for name, kind in kinds.items() if name != "JsonValue")
