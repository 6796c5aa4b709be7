"""Files of several protocols under one name that was typed."""

from collections.abc import Sequence
from pathlib import Path

from runner.errors import UsageError
from runner.suites.registry import AnySubject


def beside(path: Path, cases: Sequence[AnySubject], suffix: str) -> list[Path]:
    """The named file; with the variant before its ending where there are several."""
    if len(cases) == 1:
        return [path.resolve()]
    ending = path.suffix or suffix
    return [
        path.with_name(f"{path.stem}-{case.variant or 'published'}{ending}").resolve()
        for case in cases
    ]


def cassette_files(path: Path | None, arm: str, cases: Sequence[AnySubject]) -> list[Path | None]:
    """The cassette of each case; none for an arm without.

    Raises:
        UsageError: an arm that needs one has none, or one that has no use for one was given it.
    """
    if arm not in ("record", "replay"):
        if path is not None:
            raise UsageError(f"--cassette is of no use with --arm {arm}: use record or replay.")
        return [None] * len(cases)
    if path is None:
        what = "the file to record to" if arm == "record" else "the recording to answer with"
        raise UsageError(f"--arm {arm} needs --cassette: {what}.")
    return list(beside(path, cases, ".cassette"))
