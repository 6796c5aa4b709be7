"""What was published of other memories on a set of the same name, beside what ours came to."""

from collections.abc import Iterator

from pydantic import JsonValue

from runner.published import OTHERS, Count, PublishedAnswers, load_honesty
from runner.reports.cells import NOTHING, figure, sheet, text, words
from runner.reports.cells import count as counted
from runner.reports.sheet import Cell, Sheet


def others(name: str) -> tuple[Sheet, ...]:
    """The published results on a set as a table that fits eighty columns, and what to know of it.

    Args:
        name: of the set; of one that nothing was published of there is nothing to show.
    """
    found = load_honesty().of(name)
    if not found:
        return ()
    heads = (
        ("wrong of answered, 95%", "wrong"),
        ("refused", "neighbours_refused"),
        ("corr.", "corrections_right"),
        ("curr.", "current_right"),
        ("both", "answerable_right"),
    )
    lines = [
        (
            words(row.label),
            _wrong_cell(row),
            *(NOTHING if one is None else counted(one.hits, one.of) for one in _counts(row)),
        )
        for row in found
    ]
    return (
        sheet(
            "published",
            "Published of other memories",
            [
                text("published, on other vaults and questions", "system"),
                *(figure(*head) for head in heads),
            ],
            lines,
            (OTHERS, *_notes(found)),
        ),
    )


def _wrong_cell(row: PublishedAnswers) -> Cell:
    """As it was published: the interval is theirs."""
    told, of = row.interval, row.wrong
    value: dict[str, JsonValue] = {
        "hits": None if of is None else of.hits,
        "of": None if of is None else of.of,
        "percent": None if row.percent is None else float(row.percent),
        "low_percent": None if told is None else float(told.low),
        "high_percent": None if told is None else float(told.high),
    }
    return Cell(_wrong(row, "–"), value=value)


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
