"""mem0's own memory, opened as its user would open it, and held to what it was given."""

import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from mem0_driver.errors import Degraded, DriverError
from mem0_driver.replies import failure, remembered
from mem0_driver.settings import DIMENSIONS, EMBEDDER, Settings
from mem0_driver.watch import Overheard, Watch

USER = "user"
"""Whose memory it is: there is one user."""
SOURCE = "source"
"""The field of a memory's metadata that says which note or page it came from."""
MODEL_FILE = "model.onnx"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one text."""

    memories: int
    """Memories it left."""
    said: int
    """Statements the model made of it."""
    duplicates: int
    """Statements mem0 dropped because it held them, or had just heard them, word for word."""

    @property
    def nothing(self) -> bool:
        """Whether the model said that there is nothing to remember."""
        return self.said == 0


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a search brought back."""

    text: str
    source: str
    day: date
    """When it was stored."""
    score: float
    """mem0's own: nearness and words taken together; higher is better."""
    parts: dict[str, float]
    """What the score is made of."""


class Memories:
    """One user's memories."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        """Import mem0 and open its store, fresh or as it was left.

        Raises:
            Degraded: a part it works on without, such as its encoder, is not there.
        """
        self._settings = settings
        self._watch = Watch()
        # Before the import, in which mem0 already logs.
        self._watch.attach()
        folder.mkdir(parents=True, exist_ok=True)
        memory = importlib.import_module("mem0").Memory
        self._utils = importlib.import_module("mem0.memory.utils")
        self._llm_error = importlib.import_module("mem0.exceptions").LLMError
        self.linguist = _linguist()
        _one_thread()
        try:
            with self._watch.listening("opening"):
                self._mem0 = memory.from_config(settings.config(folder))
        except (OSError, ValueError) as error:
            raise Degraded(f"mem0 does not open: {error}") from error
        self._overheard = Overheard(self._mem0.llm.client)
        self._mem0.llm.client = self._overheard
        self._whole()

    def _whole(self) -> None:
        """See that both halves of the search work, by which their models are loaded as well."""
        with self._watch.listening("a first search"):
            size = len(self._mem0.embedding_model.embed("a text", "search"))
            keywords = self._mem0.vector_store.keyword_search("a text", top_k=1)
            self._search("a text", 1)
        if size != DIMENSIONS:
            raise Degraded(f"the encoder makes vectors of {size} numbers, not {DIMENSIONS}")
        if keywords is None:
            raise Degraded("the search by words does not work")

    # ------------------------------------------------------------ what it does

    def add(self, name: str, text: str) -> Added:
        """Give it one text, as a user would: a message, and where it is from as metadata.

        Raises:
            ProviderFailed: its model did not answer.
            GatewayRefused: its model was not to be asked.
            UnusableReply: its model's answer is none.
            Degraded: something of it was lost.
        """
        self._overheard.taken()
        result: list[Any] = []
        wrong: DriverError | None = None
        try:
            result = self._added(name, text)
        except self._llm_error as error:
            raise failure(error.__cause__) from error
        except DriverError as error:
            wrong = error
        except Exception as error:
            wrong = Degraded(f"adding {name}: {type(error).__name__}: {error}")
            wrong.__cause__ = error
        replies = self._overheard.taken()
        # A reply that mem0 could not read weighs more than what it said or raised over it.
        said = remembered(replies[0], self._parsed) if replies else [text]
        if wrong is not None:
            raise wrong
        if len(replies) != int(self._settings.options.infer):
            raise DriverError(f"adding {name}: mem0 made {len(replies)} calls of its model")
        return self._counted(name, len(result), len(said))

    def _added(self, name: str, text: str) -> list[Any]:
        with self._watch.listening(f"adding {name}"):
            done = self._mem0.add(
                [{"role": "user", "content": text}],
                user_id=USER,
                metadata={SOURCE: name},
                infer=self._settings.options.infer,
            )
        result: list[Any] = done["results"]
        return result

    def _counted(self, name: str, kept: int, said: int) -> Added:
        duplicates = self._watch.duplicates
        if kept + duplicates != said:
            raise Degraded(
                f"{name}: of {said} statements mem0 kept {kept} and dropped {duplicates} as"
                " duplicates: it does not say what became of the others"
            )
        if said and not kept:
            raise Degraded(f"{name}: nothing of it is kept: mem0 held all {said} statements")
        return Added(kept, said, duplicates)

    def _parsed(self, reply: str) -> Any:
        """A reply as mem0 itself reads it: a fence is taken off, and talk around the JSON."""
        bare = self._utils.remove_code_blocks(reply)
        try:
            return json.loads(bare, strict=False)
        except json.JSONDecodeError:
            return json.loads(self._utils.extract_json(bare), strict=False)

    def search(self, question: str, limit: int) -> list[Found]:
        """The memories it finds for a question, the best first.

        Raises:
            Degraded: a part of the search failed.
        """
        with self._watch.listening("searching"):
            return [_found(each) for each in self._search(question, limit)]

    def _search(self, question: str, limit: int) -> list[Any]:
        found: list[Any] = self._mem0.search(
            question,
            top_k=limit,
            filters={"user_id": USER},
            threshold=self._settings.options.threshold,
            explain=True,
        )["results"]
        return found

    # ------------------------------------------------------------ what it is

    @property
    def version(self) -> str:
        """mem0's own version."""
        return importlib.metadata.version("mem0ai")

    def parts(self) -> dict[str, str]:
        """What beside the settings decides its answers."""
        prompts = importlib.import_module("mem0.configs.prompts")
        prompt = hashlib.sha256(prompts.ADDITIVE_EXTRACTION_PROMPT.encode()).hexdigest()
        return {
            "store": f"qdrant, on disk, qdrant-client {_version('qdrant-client')}",
            "search": "nearness and words (BM25); threshold on nearness",
            "linguist": self.linguist,
            "prompt_sha256": prompt,
            "fastembed": _version("fastembed"),
            "anthropic": _version("anthropic"),
        }


def encoder() -> str:
    """What turns text into vectors, with the digest of its weights.

    Raises:
        Degraded: it is not there, or there several times.
    """
    cache = Path(os.environ.get("FASTEMBED_CACHE_PATH", ""))
    files = sorted(cache.glob(f"models--*/snapshots/*/{MODEL_FILE}"))
    if len(files) != 1:
        raise Degraded(f"{cache} holds {len(files)} encoders, not one")
    with files[0].open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return f"{EMBEDDER.rpartition('/')[2]}, float32, ONNX, one thread, sha256 {digest[:12]}"


def _one_thread() -> None:
    """mem0 has no setting for the threads of its encoder. Several wait for each other by spinning:
    beside other work on the same cores that is ten times slower, and never much faster."""
    module: Any = importlib.import_module("mem0.embeddings.fastembed")
    if not isinstance(module.TextEmbedding, functools.partial):
        module.TextEmbedding = functools.partial(module.TextEmbedding, threads=1)


def _linguist() -> str:
    """mem0 asks once for spaCy's English model, to find names and basic forms of words, and goes
    on without for as long as it lives."""
    if importlib.util.find_spec("spacy") is None:
        models = importlib.import_module("mem0.utils.spacy_models")
        for ask in (models.get_nlp_full, models.get_nlp_lemma):
            if ask() is not None:
                raise DriverError("mem0 has a spaCy that is not installed")
        return "none: without spaCy no names are linked and no word is brought to its basic form"
    return f"spaCy {_version('spacy')}"


def _found(memory: dict[str, Any]) -> Found:
    metadata, details = memory.get("metadata") or {}, memory.get("score_details") or {}
    source, stored = metadata.get(SOURCE), memory.get("created_at")
    if not isinstance(source, str) or not isinstance(stored, str):
        raise DriverError(f"the memory {memory.get('id')} does not say where or when it is from")
    return Found(
        text=memory["memory"],
        source=source,
        day=datetime.fromisoformat(stored).astimezone(UTC).date(),
        score=float(memory["score"]),
        parts={
            name: float(details[f"{name}_score"])
            for name in ("semantic", "bm25")
            if f"{name}_score" in details
        },
    )


def _version(package: str) -> str:
    return importlib.metadata.version(package)
