"""Where everything lies, and what claude-mem finds there when it starts: a fresh home, one
endpoint on loopback, no login, and nothing that would be told to others.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from claude_mem_driver.errors import BadRequest
from claude_mem_driver.settings import Settings

INSTALLED = Path("/opt/claude-mem")
PORT = 37701
NO_KEY = "none"
"""What stands where a key would; the real one never enters this container."""
_SECRET = ("API_KEY", "AUTH", "CREDENTIAL", "OAUTH", "PASSWORD", "SECRET", "TOKEN")
"""What a name of a login holds. None is ever let in: without an address of its own, claude-mem
would take it to the public one."""
_OTHER_ROADS = ("CLAUDE_CODE_USE_", "CLOUD_ML_", "GOOGLE_CLOUD_", "AWS_")
"""Other ways to a model that Claude Code takes, before the one it is given."""
_LOGINS = (".claude/.credentials.json", ".claude.json", ".claude-mem/.env")

QUIET = {
    "DO_NOT_TRACK": "1",
    "CLAUDE_MEM_TELEMETRY": "0",
    "ANONYMIZED_TELEMETRY": "False",
    "ORT_DISABLE_TELEMETRY": "1",
    "OTEL_SDK_DISABLED": "true",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""For claude-mem and its vector search. What Claude Code is told stands in ``bin/claude``: the
worker takes such settings out of its environment."""
_PASSED = ("LANG", "LD_PRELOAD", "TZ")


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one memory."""

    home: Path
    installed: Path = INSTALLED

    @property
    def data(self) -> Path:
        """What claude-mem keeps."""
        return self.home / ".claude-mem"

    @property
    def vault(self) -> Path:
        """Where pages and notes lie for the sessions that read them."""
        return self.home / "vault"

    @property
    def plugin(self) -> Path:
        """The plugin as it is installed."""
        return self.installed / "node_modules/claude-mem/plugin"

    def environment(self, env: Mapping[str, str], settings: Settings) -> dict[str, str]:
        """What claude-mem and Claude Code are started with; nothing else of ours is handed on."""
        kept = {name: env[name] for name in env if name in _PASSED or name.startswith("FAKETIME")}
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{self.installed}/bin:/usr/local/bin:/usr/bin:/bin",
            **QUIET,
            "BENCH_CLAUDE_RETRIES": str(settings.options.retries),
        }

    def prepare(self, env: Mapping[str, str], settings: Settings) -> None:
        """Write down where the model is and how claude-mem is set.

        Raises:
            BadRequest: there is a login, another road to a model, or no endpoint on loopback.
        """
        door = endpoint(env)
        if there := [name for name in _LOGINS if (self.home / name).exists()]:
            raise BadRequest(f"the home is not fresh: it has {', '.join(there)}")
        self.data.mkdir(parents=True)
        self.vault.mkdir()
        # claude-mem reads the endpoint from here and nowhere else.
        (self.data / ".env").write_text(f"ANTHROPIC_BASE_URL={door}\nANTHROPIC_API_KEY={NO_KEY}\n")
        (self.data / "settings.json").write_text(json.dumps(self.settings(settings.observer)))
        models = self.home / ".cache/chroma/onnx_models"
        models.parent.mkdir(parents=True)
        models.symlink_to(self.installed / "onnx_models")

    def settings(self, model: str) -> dict[str, str]:
        """claude-mem's own settings, where they are not its defaults."""
        return {
            "CLAUDE_MEM_MODEL": model,
            # By default what only reads goes to a cheaper model than the one it is set to.
            "CLAUDE_MEM_TIER_ROUTING_ENABLED": "false",
            "CLAUDE_MEM_WORKER_PORT": str(PORT),
            "CLAUDE_CODE_PATH": str(self.installed / "bin/claude"),
            "CLAUDE_MEM_CLAUDE_CONFIG_DIR": str(self.home / ".claude-observer"),
            "CLAUDE_MEM_WELCOME_HINT_ENABLED": "false",
            "CLAUDE_MEM_TRANSCRIPTS_ENABLED": "false",
            "CLAUDE_MEM_TELEGRAM_ENABLED": "false",
            "CLAUDE_MEM_GROK_BOT_AWARENESS_ENABLED": "false",
            "CLAUDE_MEM_GROK_BOT_INJECT_ENABLED": "false",
            "CLAUDE_MEM_CCS_ALIGN_ENABLED": "false",
            "CLAUDE_MEM_CLOUD_SYNC_WS": "false",
        }


def endpoint(env: Mapping[str, str]) -> str:
    """The one address of a model.

    Raises:
        BadRequest: it is not on loopback, or there is a login or another road.
    """
    if found := sorted(_logins(env)):
        raise BadRequest(f"a login is in the environment, which is never used: {', '.join(found)}")
    door = env.get("ANTHROPIC_BASE_URL", "")
    try:
        parts = urlsplit(door)
        local = parts.hostname in ("127.0.0.1", "::1", "localhost") and parts.port is not None
    except ValueError:
        local = False
    if not local or parts.scheme != "http" or "\n" in door:
        raise BadRequest(f"ANTHROPIC_BASE_URL is {door!r}, which is no http address on loopback")
    return door


def _logins(env: Mapping[str, str]) -> Iterable[str]:
    for name, value in env.items():
        upper = name.upper()
        if name == "ANTHROPIC_API_KEY" and value == NO_KEY:
            continue
        if any(part in upper for part in _SECRET) or upper.startswith(_OTHER_ROADS):
            yield name
