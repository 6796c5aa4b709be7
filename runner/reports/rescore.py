"""A saved report, computed again from its own rows, events and calls. No container, no call."""

from collections.abc import Mapping
from decimal import Decimal

from runner.errors import AlteredReport, UsageError
from runner.model import Call, Outcome, RunRecord
from runner.prices import ModelPrice, load_prices, priced_name, same_model
from runner.reports.schema import Report
from runner.runs import calls as of_calls
from runner.suites.memory_honesty import HonestyVerdict
from runner.suites.registry import AnySubject, AnyVerdict, suite_of
from runner.suites.suite import Material

JUDGED = (Outcome.PASSED, Outcome.FAILED)


def rejudge(subject: AnySubject, run: RunRecord, version: int) -> RunRecord:
    """The run with every check computed again, ended by the result under ``version``.

    A run that never came to a verdict keeps the ending it has.
    """
    if run.ending.outcome not in JUDGED:
        return run
    suite, material = suite_of(subject), Material.of(run)
    results = suite.check(subject, run.spec.kind, material)
    return run.model_copy(
        update={
            "checks": results,
            "observations": suite.observe(subject, run.spec.kind, material),
            "ending": suite.ending(results, version),
        }
    )


def verify(report: Report) -> None:
    """Compute everything that can be computed again, and compare it with what the report says.

    Raises:
        AlteredReport: something differs; names the field.
    """
    verify_case(report)
    verify_models(report)
    again = rescore(report, report.checks_version)
    verify_runs(report, again)
    verify_costs(report)
    verify_valid(report)
    verify_verdict(report, again)


def verify_case(report: Report) -> None:
    """Compare the case with its digests, and with what this bench has of the same digests."""
    case, suite = report.case, suite_of(report.case)
    listed = {item.name: item.sha256 for item in report.fixtures}
    own = suite.digests(case)
    for name, sha256 in own.items():
        if listed.get(name) != sha256:
            raise _differs(f"case ({name})", "the fixtures")
    known = suite.known(case)
    # Of another bench, where the digests differ: its own rows are all there is.
    if known is not None and suite.digests(known) == own and known != case:
        raise _differs("case", "the file of the same digest")


def verify_models(report: Report) -> None:
    """Whether it is a mixture of models, and whether its runs replay the cassette it names."""
    if report.mixed != (len(set(report.purposes.values())) > 1):
        raise _differs("mixed", "the models of the purposes")
    for number, run in enumerate(report.runs):
        replayed = run.gateway.cassette_sha256 if run.gateway is not None else None
        if replayed is not None and (report.cassette is None or report.cassette.sha256 != replayed):
            raise _differs(f"runs[{number}].gateway.cassette_sha256", "the report's cassette")


def verify_runs(report: Report, again: Report) -> None:
    """Every check, observation and ending, beside the same computed again."""
    for number, (saved, computed) in enumerate(zip(report.runs, again.runs, strict=True)):
        for field in ("checks", "observations", "ending"):
            if getattr(saved, field) != getattr(computed, field):
                raise _differs(f"runs[{number}].{field}", "the run's own rows and events")


def verify_costs(report: Report) -> None:
    """What every call, every run and all of them cost, from tokens and prices."""
    aliases = load_prices().aliases
    for number, run in enumerate(report.runs):
        _verify_costs(run, number, aliases)
    if report.spend.cost_usd != sum((run.cost_usd for run in report.runs), Decimal(0)):
        raise _differs("spend.cost_usd", "the runs' costs")


def verify_valid(report: Report) -> None:
    """That no run has a verdict which its sandbox or its model calls do not allow."""
    aliases = load_prices().aliases
    for number, run in enumerate(report.runs):
        if run.ending.outcome in JUDGED:
            _verify_valid(run, number, aliases)


def verify_verdict(report: Report, again: Report) -> None:
    """The verdict over all runs, intervals and all, beside the same computed again."""
    if report.verdict != _as_of(again.verdict, report.verdict):
        raise _differs("verdict", "the runs")


def rescore(report: Report, version: int) -> Report:
    """The report under another version of the checks.

    Raises:
        UsageError: the version is not defined for the report's case.
    """
    if version not in report.case.checks_versions:
        known = ", ".join(str(one) for one in report.case.checks_versions)
        raise UsageError(
            f"Checks version {version} is not defined for the case {report.case.name}.",
            hint=f"Versions of this case: {known}.",
        )
    runs = tuple(rejudge(report.case, run, version) for run in report.runs)
    return report.model_copy(
        update={"runs": runs, "checks_version": version, "verdict": verdict(report, runs, version)}
    )


def verdict(report: Report, runs: tuple[RunRecord, ...], version: int) -> AnyVerdict | None:
    """What the runs come to; none before the first."""
    if not runs:
        return None
    planned: dict[str, int] = {}
    for item in report.planned:
        planned[item.kind] = planned.get(item.kind, 0) + 1
    scored: AnyVerdict = suite_of(report.case).score(report.case, runs, version, planned)
    return scored


def _as_of(computed: AnyVerdict | None, saved: AnyVerdict | None) -> AnyVerdict | None:
    """What is computed now, as far as it was told when a report was saved."""
    if isinstance(computed, HonestyVerdict) and isinstance(saved, HonestyVerdict):
        return computed.as_of(saved)
    return computed


def _verify_valid(run: RunRecord, number: int, aliases: Mapping[str, str]) -> None:
    """A run with a verdict never left its sandbox and was answered by the model it asked for."""
    for place, escape in enumerate(run.escapes):
        if escape.result == "escaped":
            raise _differs(f"runs[{number}].ending", f"its escapes[{place}]")
    for place, call in enumerate(run.calls):
        answered = call.outcome == "answered"
        if answered and not same_model(call.requested_model, call.served_model or "", aliases):
            raise _differs(f"runs[{number}].ending", f"the served model of its calls[{place}]")
    if of_calls.ending(run.calls) is not None:
        raise _differs(f"runs[{number}].ending", "its calls, of which some got no whole answer,")


def _verify_costs(run: RunRecord, number: int, aliases: Mapping[str, str]) -> None:
    rates = run.gateway.prices if run.gateway is not None else {}
    prices = {model: ModelPrice.model_validate(rate) for model, rate in rates.items()}
    for place, call in enumerate(run.calls):
        name = priced_name(call.requested_model, prices, aliases)
        if not _plausible(call, None if name is None else prices[name]):
            raise _differs(f"runs[{number}].calls[{place}].cost_usd", "its tokens and prices")
    if run.usage != of_calls.by_purpose(run.calls):
        raise _differs(f"runs[{number}].usage", "its calls")
    if run.cost_usd != sum((call.cost_usd for call in run.calls), Decimal(0)):
        raise _differs(f"runs[{number}].cost_usd", "the costs of its calls")


def _plausible(call: Call, price: ModelPrice | None) -> bool:
    """Whether a call's cost follows from its tokens. One whose tokens were not told is charged at
    its worst case: never less than what was told comes to, never more than was set aside."""
    if price is None:  # of a batch as a whole, the calls of which were never told apart
        whole = not call.requested_model and "no_usage" in call.flags
        return call.cost_usd == (call.reserved_usd if whole else 0)
    batch = call.batch is not None
    if not _UNMEASURED & set(call.flags):
        return call.cost_usd == price.cost(call.usage, batch=batch)
    told = price.cost(call.usage.model_copy(update={"output": 0}), batch=batch)
    most = call.reserved_usd or call.cost_usd  # a measured ceiling sets nothing aside
    return min(told, most) <= call.cost_usd <= most


_UNMEASURED = frozenset({"no_usage", "broken"})


def _differs(field: str, source: str) -> AlteredReport:
    return AlteredReport(
        f"{field} is not what {source} come to.",
        hint="The report was altered, or made by a program that computes it otherwise.",
    )
