"""What each rule of the update gate retires, of updates and of controls."""

from runner.reports.site.figures._figure import Figure
from runner.reports.site.figures.forest import Panel, Share, forest
from runner.stats import exact_interval
from runner.suites.update_gate import GateVerdict


def rules(name: str, verdict: GateVerdict) -> Figure:
    """Every set under every rule: the share of updates retired, and of control samples.

    Args:
        name: of the figure.
        verdict: of an update-gate report.
    """
    told = [(one, tally) for one in verdict.sets for tally in one.rules]
    labels = [f"{one.name}: {tally.rule}" for one, tally in told]
    updates = [exact(tally.positives_retired, tally.positives) for _, tally in told]
    controls = [exact(tally.control_retirements, tally.control_samples) for _, tally in told]
    return forest(
        name,
        "What each rule retires",
        "For every set of pairs and every rule: of the updates those that are retired, and of the"
        " samples of controls, which should be kept, those that are retired all the same; with"
        " exact 95% intervals.",
        labels,
        (
            Panel("updates retired", tuple(updates)),
            Panel("controls retired", tuple(controls), less=True),
        ),
        first="set and rule",
    )


def exact(hits: int, of: int) -> Share:
    """A share of independent trials with its exact interval; none of none."""
    if not of:
        return Share(None, hits=0, of=0)
    low, high = exact_interval(hits, of)
    return Share(hits / of, low, high, hits, of)
