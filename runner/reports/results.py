"""The page of results: every system on every set that was asked, the unflattering parts first."""

from collections.abc import Iterator, Sequence

from runner.plain import plain
from runner.reports._results_parts import apart, code, effort, repeat_runs, told
from runner.reports.honesty import Row, at_coverage_of
from runner.reports.others import as_markdown
from runner.reports.schema import Report
from runner.reports.sealing import close
from runner.suites.memory_honesty import Estimate, Exam, Metrics, grades, paired


def page(
    rows: Sequence[Row],
    reports: Sequence[Report],
    *,
    vs: Sequence[str] = (),
    vs_matched: Sequence[str] = (),
    remark: str = "",
) -> str:
    """Results as Markdown.

    Args:
        rows: of every system and set that came to a verdict.
        reports: all of them, failures too.
        vs: systems that every other is compared with, question by question.
        vs_matched: the same, held to as many answers.
        remark: a sentence of whoever made them.
    """
    lines = [
        "# Memory honesty: results",
        "",
        "Made by `bench honesty --matrix --results docs/results.md`. Intervals are of 10,000",
        "resamples, stratified by kind. A dash stands for a rate of nothing.",
        "",
        *_made(reports),
        *([plain(remark), ""] if remark else []),
        "## Read plainly",
        "",
        *_plainly(rows),
    ]
    sets = dict.fromkeys(row.exam.set for row in rows)
    for name in sets:
        mine = [row for row in rows if row.exam.set == name]
        theirs = [one for one in reports if isinstance(one.case, Exam) and one.case.set == name]
        lines += [*_set(mine), "", *effort(theirs), *repeat_runs(theirs)]
        lines += [*_against(mine, vs, vs_matched), *as_markdown(name), *apart(theirs)]
    failed = list(_failed(reports))
    if failed:
        lines += ["## Without a verdict", "", *failed, ""]
    return "\n".join(lines).rstrip() + "\n"


def _made(reports: Sequence[Report]) -> Iterator[str]:
    """What the figures were made with."""
    if not reports:
        return
    first = reports[0]
    made = f"On {first.started_at:%Y-%m-%d} by bench {told(first.bench_version)}"
    yield f"{made}; systems, with their images:"
    yield ""
    seen = dict.fromkeys(
        f"- {told(f'{report.system.name} {report.system.version}')},"
        f" {code(report.images[0].config_digest[:19])}"
        + (f", encoder {told(report.runs[0].encoder)}" if _encodes(report) else "")
        for report in reports
        if report.images
    )
    yield from seen
    yield ""


def _plainly(rows: Sequence[Row]) -> Iterator[str]:
    """Each system at its worst set, worst first."""
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        by_system.setdefault(row.label, []).append(row)
    worst = {
        label: max(some, key=lambda row: row.result.metrics.wrong_rate or 0.0)
        for label, some in by_system.items()
    }
    for label, row in sorted(
        worst.items(), key=lambda item: -(item[1].result.metrics.wrong_rate or 0.0)
    ):
        found = row.result.metrics
        wrong = (
            f"cites a wrong page in {_percent(found.wrong_rate)} of its answers on"
            f" {told(row.exam.set)} ({found.wrong} of {found.answered}: neighbours"
            f" {found.neighbour_cited}, replaced pages {found.stale}, others {found.unrelated})"
        )
        yield (
            f"- **{told(label)}** {wrong if found.answered else 'answers nothing'}; it refuses"
            f" {found.false_refusals.hits} of {found.false_refusals.of} questions that a page"
            " answers."
        )
    yield ""


def _set(rows: Sequence[Row]) -> Iterator[str]:
    exam: Exam = rows[0].exam
    held = ", held out" if exam.held_out else ""
    counts = ", ".join(f"{count} {told(kind)}" for kind, count in exam.counts.items())
    yield f"## {told(f'{exam.set} ({exam.vault}')}{held})"
    yield ""
    cited = f"{exam.top_k} may be cited"
    if exam.depth is not None:
        cited += f", of {exam.depth} asked for: leaving out replaced ones empties no answer"
    yield f"{exam.size} questions: {counts}; {len(exam.pages)} pages; {cited}."
    yield ""
    yield (
        "| system | wrong citations | neighbours refused | corrections | current | false refusals |"
        " stale | right − wrong | − 2 wrong | − 5 wrong | area | p50 ms |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        found, rate = row.result.metrics, row.result.intervals.all["wrong_rate"]
        low, high = rate.low, rate.high
        interval = "" if low is None or high is None else f" [{100 * low:.0f}, {100 * high:.0f}]"
        wrong = f"{_percent(found.wrong_rate)} ({found.wrong} / {found.answered}){interval}"
        curve = "–" if row.result.curve is None else f"{row.result.curve.area:.3f}"
        took = "–" if row.timing is None else f"{row.timing.p50_ms:.0f}"
        yield (
            f"| {told(row.label)} | {wrong} | {_counts(found)} | {found.stale} | {_costs(found)}"
            f" | {curve} | {took} |"
        )
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        yield ""
        yield told(note)
    if len({question.lang for question in exam.questions}) > 1:
        yield ""
        yield "By language: right to answerable questions, and neighbours refused."
        yield ""
        yield "| system | en right | en refused | zh right | zh refused |"
        yield "|---|---:|---:|---:|---:|"
        for row in rows:
            cells = []
            for tally in row.result.metrics.by_language.values():
                right, refused = tally.answerable_right, tally.neighbours_refused
                cells += [f"{right.hits} / {right.of}", f"{refused.hits} / {refused.of}"]
            yield f"| {told(row.label)} | {' | '.join(cells)} |"


def _against(rows: Sequence[Row], vs: Sequence[str], vs_matched: Sequence[str]) -> Iterator[str]:
    """Systems minus others, in points, with 95% intervals and exact tests."""
    by_name = {row.label: row for row in rows}
    # A system that tells no scores cannot be held to fewer answers.
    pairs = [
        (row, at_coverage_of(other, row) if matched else other)
        for matched, names in ((False, vs), (True, vs_matched))
        for name in names
        if (other := by_name.get(name)) is not None
        and (not matched or other.result.curve is not None)
        for row in rows
        if row.label != name and row.result.metrics.answered and not row.exam.told
    ]
    if not pairs:
        return
    yield (
        "| one minus another | wrong citations | right (cited or refused) | p | answerable right |"
        " neighbours refused |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for row, other in pairs:
        found = paired(
            grades(row.exam, row.answers), grades(other.exam, other.answers), seed=row.exam.seed
        )
        cells = {name: _points(found.differences[name]) for name in _COMPARED}
        test = found.tests["behaved"]
        alone = f"{test.only_first} v {test.only_second}, {test.p_value:.2g}"
        yield (
            f"| {told(f'{row.label} minus {other.label}')} | {cells['wrong_rate']} |"
            f" {cells['behaved']} | {alone} | {cells['answerable_right']} |"
            f" {cells['neighbours_refused']} |"
        )
    yield ""


_COMPARED = ("wrong_rate", "behaved", "answerable_right", "neighbours_refused")


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _counts(found: Metrics) -> str:
    counts = (
        found.neighbours_refused,
        found.corrections_right,
        found.current_right,
        found.false_refusals,
    )
    return " | ".join(f"{count.hits} / {count.of}" for count in counts)


def _costs(found: Metrics) -> str:
    return " | ".join("–" if value is None else f"{value:+.2f}" for value in found.cost.values())


def _failed(reports: Sequence[Report]) -> Iterator[str]:
    """Runs without a verdict; of a held-out set without their words, which may be a question's."""
    for report in reports:
        public, _ = close(report, "")
        for run in public.runs:
            if run.ending.kind != "graded":
                ended = told(f"{run.ending.kind}. {run.ending.detail}")
                yield f"- {told(f'{report.system.name}, {run.spec.kind}')}: {ended}"


def _encodes(report: Report) -> bool:
    return bool(report.runs and report.runs[0].encoder)


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{100 * rate:.0f}%"
