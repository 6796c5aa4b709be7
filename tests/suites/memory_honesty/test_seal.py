import gzip
import hashlib

import orjson
import pytest

from runner.errors import AlteredReport, UsageError
from runner.model import Call, RunRecord
from runner.suites.memory_honesty import (
    SEALED,
    Exam,
    Sealed,
    UnreadableAnswer,
    check,
    score,
    seal,
    unseal,
)
from tests.suites.memory_honesty._kit import BACKUPS, LEAVE, exam, run


def call(seq: int, step: str) -> Call:
    return Call(
        seq=seq,
        step=step,
        purpose="answer",
        requested_model="model-a",
        outcome="answered",
        prompt_sha256="0" * 64,
    )


def called(asked: Exam) -> RunRecord:
    calls = (call(1, "index"), call(2, "ask q002"), call(3, "ask q001"))
    return run(asked, {"q001": [LEAVE, BACKUPS]}, calls=calls, log_tail="asked q001")


def sealed(asked: Exam) -> tuple[RunRecord, bytes]:
    public, raw = seal(asked, called(asked))
    assert raw is not None
    return public, raw


def test_a_public_record_holds_nothing_of_any_question() -> None:
    asked = exam("heldout")
    public, raw = sealed(asked)
    told = public.model_dump_json()
    for one in asked.questions:
        assert one.id not in told
    assert not any(page.name in told for page in asked.pages)
    assert [step.name for step in public.steps] == ["index", SEALED]
    stands = public.steps[1]
    assert stands.verb == "ask"
    assert stands.seconds == 0.021
    assert stands.result == {
        "questions": 6,
        "sealed_sha256": hashlib.sha256(gzip.decompress(raw)).hexdigest(),
    }
    assert [one.step for one in public.calls] == ["index", SEALED, SEALED]
    assert public.log_tail == ""


@pytest.mark.parametrize("form", ["full", "report"])
def test_both_parts_together_are_the_record_again(form: str) -> None:
    asked = exam("heldout")
    public, raw = sealed(asked)
    again = RunRecord.model_validate_json(public.model_dump_json())
    whole = unseal(raw).restore(asked if form == "full" else asked.public(), again)
    assert whole == called(asked)
    assert score(asked, [whole]) == score(asked, [called(asked)])


def test_a_sealed_file_is_canonical_and_carries_no_time() -> None:
    asked = exam("heldout")
    first, second = sealed(asked)[1], sealed(asked)[1]
    assert first == second
    told = gzip.decompress(first)
    assert told == orjson.dumps(orjson.loads(told), option=orjson.OPT_SORT_KEYS)
    assert unseal(first).exam == asked.digest
    assert unseal(first).sha256 == hashlib.sha256(told).hexdigest()


def test_what_was_sealed_of_a_run_that_broke_off_is_what_it_was_asked() -> None:
    asked = exam("heldout")
    whole = called(asked)
    failed = whole.steps[2].model_copy(update={"error": "degraded: no index", "result": {}})
    broken = whole.model_copy(update={"steps": (*whole.steps[:2], failed)})
    public, raw = seal(asked, broken)
    assert raw is not None
    assert public.steps[1].result["questions"] == 1
    assert unseal(raw).restore(asked, public) == broken


def test_where_nothing_was_asked_nothing_is_sealed() -> None:
    asked = exam("heldout")
    record = called(asked).model_copy(update={"steps": called(asked).steps[:1]})
    assert seal(asked, record) == (record, None)


def test_only_held_out_answers_are_sealed_and_only_once() -> None:
    dev, asked = exam("dev"), exam("heldout")
    with pytest.raises(UsageError, match="not held out"):
        seal(dev, run(dev))
    with pytest.raises(UsageError, match="sealed already"):
        seal(asked, sealed(asked)[0])


def test_a_check_says_the_same_of_both() -> None:
    asked = exam("heldout")
    public, _ = sealed(asked)
    said = check(asked, "heldout", called(asked).steps)
    assert check(asked.public(), "heldout", public.steps) == said
    assert check(asked, "heldout", public.steps) == said


def test_sealed_answers_of_another_run_or_exam_are_refused() -> None:
    asked = exam("heldout")
    public, raw = sealed(asked)
    other = unseal(raw)
    wrong = [
        (asked, called(asked)),
        (exam("heldout", top_k=3), public),
        (
            asked,
            public.model_copy(update={"spec": public.spec.model_copy(update={"id": "another"})}),
        ),
        (asked, public.model_copy(update={"calls": public.calls[:1]})),
        (asked, public.model_copy(update={"steps": (*public.steps, public.steps[1])})),
    ]
    for exam_, record in wrong:
        with pytest.raises(AlteredReport, match="not those of run"):
            other.restore(exam_, record)
    changed = other.model_copy(update={"log_tail": "something else"})
    with pytest.raises(AlteredReport, match="not those of run"):
        changed.restore(asked, public)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "schema_version|unfolded|file"),
        (b"no gzip", "unfolded"),
        (gzip.compress(b"no json"), "form"),
        (gzip.compress(b"{}"), "form: exam"),
        (gzip.compress(b"{}")[:-3], "unfolded"),
    ],
)
def test_what_is_no_sealed_file_is_refused(raw: bytes, told: str) -> None:
    with pytest.raises(AlteredReport, match=told):
        unseal(raw)


def test_another_version_is_refused() -> None:
    _, raw = sealed(exam("heldout"))
    document = orjson.loads(gzip.decompress(raw))
    for change in ({"schema_version": 2}, {"more": 1}):
        with pytest.raises(AlteredReport, match="form"):
            unseal(gzip.compress(orjson.dumps({**document, **change})))


@pytest.mark.slow
def test_a_file_that_unfolds_to_too_much_is_refused() -> None:
    with pytest.raises(AlteredReport, match="more than 256 MB"):
        unseal(gzip.compress(b" " * ((256 << 20) + 1), compresslevel=1))


def test_what_is_put_aside_is_written_and_read_back() -> None:
    found = unseal(sealed(exam("heldout"))[1])
    assert Sealed.model_validate_json(found.canonical) == found


def test_a_public_record_is_not_scored() -> None:
    asked = exam("heldout")
    with pytest.raises(UnreadableAnswer, match="are sealed"):
        score(asked, [sealed(asked)[0]])
