"""The answers to a held-out set, put aside from the report: into a file that is opened on purpose.

What a public record keeps is the index step, one step that stands for all questions, and the digest
of what was put aside. The two together are the whole record again.
"""

import gzip
import hashlib
import io
import zlib
from typing import Literal

import orjson
from pydantic import ValidationError

from runner.errors import AlteredReport, UsageError
from runner.model import Call, Noun, RunRecord, StepRecord
from runner.suites.memory_honesty.exam import Exam
from runner.suites.memory_honesty.protocol import ASK, SEALED

MOST_BYTES = 256 << 20
"""Of what a sealed file may unfold to."""


class Sealed(Noun):
    """What a public record leaves out."""

    schema_version: Literal[1] = 1
    exam: str
    """Digest of what was asked."""
    run: str
    steps: tuple[StepRecord, ...]
    """A step a question, in the order they were asked."""
    calls: tuple[str, ...]
    """The step of each call the run made, in their order."""
    log_tail: str

    @property
    def canonical(self) -> bytes:
        """Its one byte form, not compressed."""
        return orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)

    @property
    def sha256(self) -> str:
        """Of that form: compressed bytes may differ from machine to machine."""
        return hashlib.sha256(self.canonical).hexdigest()

    def restore(self, exam: Exam, record: RunRecord) -> RunRecord:
        """The whole record of a run.

        Args:
            exam: what was asked, with its questions or without.
            record: the public one.

        Raises:
            AlteredReport: this is not what the record left out.
        """
        at = [number for number, step in enumerate(record.steps) if step.name == SEALED]
        if (
            len(at) != 1
            or record.steps[at[0]].result.get("sealed_sha256") != self.sha256
            or (self.run, self.exam) != (record.spec.id, exam.digest)
            or len(self.calls) != len(record.calls)
        ):
            raise AlteredReport(
                f"The sealed answers are not those of run {record.spec.id}.",
                hint="The report names their digest; get the file that was written with it.",
            )
        before, after = record.steps[: at[0]], record.steps[at[0] + 1 :]
        return record.model_copy(
            update={
                "steps": (*before, *self.steps, *after),
                "calls": tuple(
                    call.model_copy(update={"step": step})
                    for call, step in zip(record.calls, self.calls, strict=True)
                ),
                "log_tail": self.log_tail,
            }
        )


def seal(exam: Exam, record: RunRecord) -> tuple[RunRecord, bytes | None]:
    """Part a record into what a report holds and what is put aside.

    Args:
        exam: what was asked.
        record: a run of it, however it ended.

    Returns:
        The public record, and the bytes of the file for the rest: gzip of canonical JSON. None, and
        the record as it is, where the run ended before a question was asked.

    Raises:
        UsageError: the set is not held out, or the record is sealed already.
    """
    if not exam.held_out:
        raise UsageError(f"The set {exam.set} is not held out: its answers are told.")
    if any(step.name == SEALED for step in record.steps):
        raise UsageError(f"The answers of run {record.spec.id} are sealed already.")
    asked = tuple(step for step in record.steps if step.verb == ASK)
    if not asked:
        return record, None
    sealed = Sealed(
        exam=exam.digest,
        run=record.spec.id,
        steps=asked,
        calls=tuple(call.step for call in record.calls),
        log_tail=record.log_tail,
    )
    names = {step.name for step in asked}
    stands = StepRecord(
        name=SEALED,
        verb=ASK,
        seconds=round(sum(step.seconds for step in asked), 3),
        result={
            "questions": sum(step.error is None for step in asked),
            "sealed_sha256": sealed.sha256,
        },
    )
    first = record.steps.index(asked[0])
    others = tuple(step for step in record.steps if step.verb != ASK)
    public = record.model_copy(
        update={
            "steps": (*others[:first], stands, *others[first:]),
            "calls": tuple(_unnamed(call, names) for call in record.calls),
            "log_tail": "",
        }
    )
    return public, gzip.compress(sealed.canonical, mtime=0)


def unseal(raw: bytes) -> Sealed:
    """Read a sealed file.

    Raises:
        AlteredReport: it is no sealed file of this version, or one that unfolds to too much.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            told = file.read(MOST_BYTES + 1)
        if len(told) > MOST_BYTES:
            raise AlteredReport(f"The sealed answers unfold to more than {MOST_BYTES >> 20} MB.")
        return Sealed.model_validate_json(told)
    except (OSError, EOFError, zlib.error) as error:
        raise AlteredReport(f"The sealed answers cannot be unfolded: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise AlteredReport(
            f"The sealed answers do not follow their form: {field or 'file'}: {first['msg']}."
        ) from error


def _unnamed(call: Call, asked: set[str]) -> Call:
    return call.model_copy(update={"step": SEALED}) if call.step in asked else call
