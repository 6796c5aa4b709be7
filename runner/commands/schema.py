"""``bench schema``: the report's schema, as published in ``docs/report.schema.json``."""

import orjson
import typer

from runner.reports.schema import Report


def schema() -> None:
    """Print the JSON Schema of a report."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
