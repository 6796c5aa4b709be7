"""What was published of other memories on a set of the same name, beside what ours came to."""

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runner.published import OTHERS, Count, PublishedAnswers, load_honesty


def others(name: str) -> list[RenderableType]:
    """The published results on a set as a table that fits eighty columns, and what to know of it.

    Args:
        name: of the set; of one that nothing was published of there is nothing to show.
    """
    found = load_honesty().of(name)
    if not found:
        return []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("published, on other vaults and questions", overflow="fold")
    for head in ("wrong of answered, 95%", "refused", "corr.", "curr.", "both"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in found:
        counts = (_short(count) for count in _counts(row))
        table.add_row(row.label, _wrong(row, "–"), *counts)
    return [table, *(Text(told) for told in (OTHERS, *_notes(found))), Text()]


def as_markdown(name: str) -> Iterator[str]:
    """The same as lines of Markdown, with the day of each."""
    found = load_honesty().of(name)
    if not found:
        return
    yield f"Published of other memories. {OTHERS}"
    yield "Intervals are 95%, over all questions alike."
    yield ""
    yield (
        "| system | of | wrong citations | neighbours refused | corrections | current |"
        " answerable right |"
    )
    yield "|---|---|---|---:|---:|---:|---:|"
    for row in found:
        day = "–" if row.date is None else row.date.isoformat()
        counts = " | ".join(_spaced(count) for count in _counts(row))
        yield f"| {row.label} | {day} | {_wrong(row, ', ', wide=True)} | {counts} |"
    yield ""
    for note in _notes(found):
        yield note
        yield ""


def _counts(row: PublishedAnswers) -> tuple[Count | None, ...]:
    return row.refused, row.corrections, row.current, row.right


def _wrong(row: PublishedAnswers, between: str, *, wide: bool = False) -> str:
    rate = None if row.percent is None else f"{row.percent}%"
    count = _spaced(row.wrong) if wide else _short(row.wrong)
    told = count if rate is None else rate if row.wrong is None else f"{rate} ({count})"
    if row.interval is None:
        return told
    return f"{told} [{row.interval.low}{between}{row.interval.high}]"


def _short(count: Count | None) -> str:
    return "·" if count is None else f"{count.hits}/{count.of}"


def _spaced(count: Count | None) -> str:
    return "–" if count is None else f"{count.hits} / {count.of}"


def _notes(found: tuple[PublishedAnswers, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.note for row in found if row.note))
