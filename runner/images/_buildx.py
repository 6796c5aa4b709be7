"""Runs `docker buildx build` and says what went wrong when it fails."""

import collections
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runner.engine_api import Address
from runner.errors import CannotStart
from runner.images import _mirrors

Progress = Callable[[str], None]
"""Takes one line that says what is being done."""

_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "ftp_proxy")
_KEPT_LINES = 25
_SYSTEM_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
_STEP = re.compile(r"#\d+ (\[[^\]]+\] .+)")
_EXCERPT = re.compile(r"\s*\d+ \| ")
_HUB = re.compile(r"huggingface|\bhf\.co\b|model hub", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"\bresolv(e|ing)\b|name.?resolution|Temporary failure|connect|timed out|timeout"
    r"|Could not get lock|Name or service not known|unreachable|(cannot|could not) be reached"
    r"|ProxyError|Max retries exceeded|LocalEntryNotFound|403 Forbidden",
    re.IGNORECASE,
)
_NOISE = re.compile(r"#\d+ (?:\d+\.\d+ )?")


def cli_environment(address: Address) -> dict[str, str]:
    """The environment for the ``docker`` command: the engine that was found, nothing else's."""
    env = {key: value for key, value in os.environ.items() if key != "DOCKER_CONTEXT"}
    # A builder the user made for other work may not see this engine's images.
    env.pop("BUILDX_BUILDER", None)
    return env | address.environment() | {"DOCKER_BUILDKIT": "1"}


def certificates() -> Path | None:
    """The bundle that builds are to trust: ``BENCH_CA``, else ``SSL_CERT_FILE``, else the system's
    where an authority of one's own was added to it the Debian way.
    """
    for name in ("BENCH_CA", "SSL_CERT_FILE"):
        if given := os.environ.get(name):
            path = Path(given)
            return path if path.is_file() and path.stat().st_size else None
    added = any(Path("/usr/local/share/ca-certificates").glob("**/*.crt"))
    return _SYSTEM_BUNDLE if added and _SYSTEM_BUNDLE.is_file() else None


def build(
    address: Address,
    context: Path,
    *,
    tags: Sequence[str],
    labels: Mapping[str, str],
    args: Mapping[str, str],
    progress: Progress,
    deadline_s: float,
    sources: Sequence[str] = (),
    cached: bool = True,
) -> None:
    """Builds one image into the engine.

    Args:
        address: the engine.
        context: the folder with the Dockerfile.
        tags: names the image gets.
        labels: labels it gets.
        args: build arguments.
        progress: told each step.
        deadline_s: seconds after which the build is given up.
        sources: lines of apt's ``sources.list`` for ``bench-apt``; none for the image's own.
        cached: whether steps that were done before are not done again.

    Raises:
        CannotStart: the command is missing, the build failed or took too long.
    """
    docker = shutil.which("docker")
    if docker is None:
        raise CannotStart(
            "Images are built by `docker buildx`, and there is no docker command.",
            hint="Install Docker's command line with its buildx plugin, or run scripts/bench.",
        )
    command = [docker, "buildx", "--builder", "default", "build", "--load"]
    command += ["--progress", "plain", "--provenance=false"]
    for tag in tags:
        command += ["--tag", tag]
    for key, value in sorted(labels.items()):
        command += ["--label", f"{key}={value}"]
    for key, value in sorted((_proxies() | dict(args)).items()):
        command += ["--build-arg", f"{key}={value}"]
    if (bundle := certificates()) is not None:
        command += ["--secret", f"id=ca,src={bundle}"]
    if not cached:
        command.append("--no-cache")
    with tempfile.NamedTemporaryFile("w", prefix="memory-bench-", suffix=".sources") as file:
        if sources:
            file.write(_mirrors.stanzas(sources))
            file.flush()
            command += ["--secret", f"id=apt,src={file.name}"]
        command.append(str(context))
        code, lines = _follow(command, cli_environment(address), progress, deadline_s)
    if code != 0:
        hint = _advice(lines, args.get("MODEL"))
        raise CannotStart(_failure(tags[0], code, deadline_s, lines), hint=hint)


def _follow(
    command: Sequence[str], env: Mapping[str, str], progress: Progress, deadline_s: float
) -> tuple[int | None, list[str]]:
    """The exit code, none when the deadline passed, and the last lines."""
    kept: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
    late = threading.Event()
    with subprocess.Popen(
        command,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(deadline_s, give_up)
        timer.start()
        try:
            for line in process.stdout:
                if text := line.rstrip():
                    kept.append(text)
                    step = _STEP.fullmatch(text)
                    if step and not step[1].startswith("[internal]"):
                        progress(_short(step[1]))
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    return (None if late.is_set() else process.returncode), list(kept)


def _short(step: str) -> str:
    flat = " ".join(re.sub(r"--mount=\S+ ", "", step).split())
    return flat if len(flat) <= 100 else flat[:99] + "…"


def _proxies() -> dict[str, str]:
    """Proxy settings of this process, under both spellings, as builds expect them; the one of the
    machine's apt where there is no other, since packages of Debian come over plain http.
    """
    found: dict[str, str] = {}
    for name in _PROXIES:
        value = os.environ.get(name) or os.environ.get(name.upper())
        if name == "http_proxy" and not value:
            value = apt_proxy()
        if value:
            found |= {name: value, name.upper(): value}
    return found


def apt_proxy() -> str:
    """The proxy that the machine's apt fetches packages through; empty where there is none."""
    if shutil.which("apt-config") is None:
        return ""
    said = subprocess.run(
        ["apt-config", "shell", "PROXY", "Acquire::http::Proxy"],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    ).stdout
    value = next(iter(shlex.split(said)), "").removeprefix("PROXY=")
    # apt's own word for no proxy at all.
    return "" if value == "DIRECT" else value


def _failure(tag: str, code: int | None, deadline_s: float, lines: Sequence[str]) -> str:
    end = f"took longer than {deadline_s:g} s" if code is None else f"failed with code {code}"
    tail = "\n".join("  " + _NOISE.sub("", line) for line in lines)
    return f"Building {tag} {end}. Its last lines:\n{tail}\n"


def _advice(lines: Sequence[str], model: str | None) -> str:
    # A command that failed is shown with its place in the Dockerfile, which names much that it
    # never came to.
    text = "\n".join(line for line in lines if not _EXCERPT.match(line))
    if "unknown command" in text or "is not a docker command" in text:
        return (
            "The docker command has no buildx plugin: install docker-buildx, or run scripts/bench."
        )
    if model is not None and _HUB.search(text) and _UNREACHABLE.search(text):
        return (
            f"The hub that the model {model} comes from could not be reached. Run this where it can"
            " be, set https_proxy, or take another model: `bench images list` names them."
        )
    if re.search(r"certificate|SSL|x509", text):
        return "If a private certificate authority is in the way, name its bundle in BENCH_CA."
    if "no space left" in text.lower():
        return "The disk is full: `bench clean` and `docker system prune` make room."
    if _UNREACHABLE.search(text):
        return "A package registry could not be reached; try again, or set http_proxy/https_proxy."
    return "`bench doctor` checks what builds need."
