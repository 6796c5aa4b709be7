"""What the bench sets, as the engine's own configuration and environment.

Nothing of the engine is imported here: it reads its configuration once, when it is imported, so
that has to be written by then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from particles_driver.errors import BadRequest

PURPOSES = (
    *("extraction", "semantic_lint", "query_response", "synthesis", "benchmark"),
    *("benchmark_answer", "abstraction", "verification", "subject_resolution", "use_judge"),
)
"""What the engine calls a model for."""
OPTIONS: Mapping[str, bool] = {"same_slot_admits": True, "batches": False}
"""What can be set, and how it is set where nothing is said."""

RETRY_TOKENS = 4095
"""Longest reply to a second reading that is asked again because its reply was cut off. The engine's
own default is one token more, and then nothing tells that call from a first reading."""


@dataclass(frozen=True)
class Settings:
    """One run's settings."""

    model: str
    pins: Mapping[str, str]
    options: Mapping[str, bool]

    @classmethod
    def parse(cls, text: str) -> "Settings":
        """Read ``BENCH_SETTINGS``.

        Raises:
            BadRequest: it is not what the bench writes.
        """
        try:
            raw = json.loads(text)
            model, pins, options = raw["model"], raw.get("pins", {}), raw.get("options", {})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadRequest(f"BENCH_SETTINGS cannot be read: {error!r}") from error
        if not isinstance(model, str) or not model:
            raise BadRequest("BENCH_SETTINGS names no model")
        for what, given, known in (("pin", pins, PURPOSES), ("option", options, OPTIONS)):
            if not isinstance(given, dict) or (unknown := sorted(set(given) - set(known))):
                raise BadRequest(f"BENCH_SETTINGS has a {what} that is not known: {unknown}")
        if not all(isinstance(name, str) for name in pins.values()):
            raise BadRequest("a pin names no model")
        if not all(isinstance(value, bool) for value in options.values()):
            raise BadRequest("every option is true or false")
        return cls(model, pins, {**OPTIONS, **options})

    def config(self, door: str) -> dict[str, Any]:
        """The engine's configuration; ``door`` is the one address it may reach."""
        address = urlsplit(door)
        reachable = [{"host": address.hostname, "port": address.port}] if address.hostname else []
        models = {purpose: self.pins.get(purpose, self.model) for purpose in PURPOSES}
        return {
            "network": {"egress": "allowlist", "allow": reachable},
            "llm": {
                **{
                    purpose: {"provider": "anthropic", "model": model}
                    for purpose, model in {"default": self.model, **models}.items()
                },
                # A poll is a look at the door, not at a provider far away. Left to itself the
                # engine makes a batch of four calls or more, which two notes seldom come to.
                "batch": {
                    "enabled": self.options["batches"],
                    "poll_interval_seconds": 1.0,
                    "min_requests": 1,
                },
            },
            "audit": {"verify_retry_max_tokens": RETRY_TOKENS},
            # Its server answers as often as it is asked.
            "api": {"rate_limit_per_minute": 0},
            "reconciliation": {
                "update_supersession": {"same_slot_admits": self.options["same_slot_admits"]}
            },
        }


@dataclass(frozen=True)
class Place:
    """Where one run's things lie."""

    home: Path

    @property
    def store(self) -> Path:
        """The engine's database."""
        return self.home / "particles" / "particles.db"

    @property
    def notes(self) -> Path:
        """The folder the engine audits."""
        return self.home / "notes"

    def environment(self) -> dict[str, str]:
        """What tells the engine where its things are."""
        return {
            "DATABASE_URL": f"sqlite+aiosqlite:///{self.store}",
            "PARTICLES_BLOB_DIR": str(self.store.with_name("blobs")),
            "PARTICLES_CONFIG": str(self._config),
        }

    def prepare(self, config: Mapping[str, Any]) -> None:
        """Make the folders and write the configuration (JSON, which is YAML)."""
        self.store.parent.mkdir(parents=True, exist_ok=True)
        self.notes.mkdir(exist_ok=True)
        self._config.write_text(json.dumps(config, indent=1))

    @property
    def _config(self) -> Path:
        return self.store.with_name("config.yaml")
