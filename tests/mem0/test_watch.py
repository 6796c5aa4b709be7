import logging
from collections.abc import Callable, Iterator

import pytest
from mem0_driver.errors import Degraded
from mem0_driver.watch import LOGGER, Overheard, Watch

LOG = logging.getLogger(f"{LOGGER}.memory.main")


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch, top = Watch(), logging.getLogger(LOGGER)
    before = (top.level, top.propagate)
    watch.attach()
    yield watch
    top.removeHandler(watch)
    top.setLevel(before[0])
    top.propagate = before[1]


def logged(
    watch: Watch,
    doing: str,
    *lines: tuple[int, str],
    then: Callable[[], object] = lambda: None,
) -> None:
    with watch.listening(doing):
        for level, message in lines:
            LOG.log(level, message)
        then()


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (logging.ERROR, "Error parsing extraction response: Expecting value"),
        (logging.ERROR, "Failed to insert memory 1: full"),
        (logging.WARNING, "Failed to embed memory text: no model"),
        (logging.WARNING, "Skipping invalid message format: {}"),
        (logging.DEBUG, "BM25 keyword search failed: no such vector"),
        (logging.DEBUG, "BM25 encoding failed: x"),
        (logging.DEBUG, "Batch BM25 encoding failed, falling back to per-row: x"),
        (logging.DEBUG, "Exact entity lookup failed, falling back to semantic dedup: x"),
        (logging.DEBUG, "Entity update failed for 'Delhi': x"),
        (logging.DEBUG, "Entity cleanup error: x"),
    ],
)
def test_a_failure_that_is_only_logged_is_one(
    watch: Watch, level: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Degraded, match=r"adding a\.md: mem0 went on after a failure"):
        logged(watch, "adding a.md", (level, message))
    assert watch.failures == [message]
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "message",
    [
        "Creating memory with data='The nightly dump failed. An error was logged.'",
        "Inserting 3 vectors into collection mem0",
        "Skipping payload index creation for local Qdrant (not supported)",
        "Collection mem0 already exists. Skipping creation.",
    ],
)
def test_what_it_says_of_its_work_is_none(watch: Watch, message: str) -> None:
    with watch.listening("adding"):
        LOG.debug(message)
    assert watch.failures == []


def test_duplicates_are_counted_whatever_they_say(watch: Watch) -> None:
    with watch.listening("adding"):
        LOG.debug("Skipping duplicate memory (hash match): Backups failed: an error")
    assert (watch.duplicates, watch.failures) == (1, [])


def test_each_is_heard_for_itself(watch: Watch) -> None:
    with pytest.raises(Degraded):
        logged(watch, "one", (logging.WARNING, "no"))
    logged(watch, "another")
    with pytest.raises(Degraded, match="and 3 more"):
        logged(watch, "many", *[(logging.WARNING, f"no {number}") for number in range(8)])


def test_an_error_that_is_raised_is_not_hidden_by_what_was_logged(watch: Watch) -> None:
    with pytest.raises(ZeroDivisionError):
        logged(watch, "adding", (logging.ERROR, "LLM extraction failed"), then=lambda: 1 / 0)


def test_the_models_replies_are_kept_as_they_come() -> None:
    class Messages:
        def create(self, **asked: object) -> dict[str, object]:
            return asked

    class Client:
        messages = Messages()

    heard = Overheard(Client())
    assert heard.messages.create(model="m") == {"model": "m"}
    assert heard.taken() == [{"model": "m"}]
    assert heard.taken() == []
