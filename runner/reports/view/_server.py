"""A server for one folder's pages: loopback only, and for this machine's browser alone."""

import asyncio
import contextlib
import html
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import orjson
from aiohttp import web

from runner.errors import CannotStart
from runner.plain import plain
from runner.reports.site._env import CSP
from runner.reports.view._folder import scan, version

HOST = "127.0.0.1"
LOOK_S = 0.5
"""Between two looks at the folder."""
SCRIPT = "view.js"
HEADERS = {
    "Content-Security-Policy": f"{CSP}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


@dataclass(slots=True)
class Pages:
    """What is served now."""

    version: str = ""
    """Of the folder that it was made from; empty before the first."""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """Reports that are not shown, a sentence each."""
    reports: int = 0
    runs: int = 0


async def serve(
    folder: Path, port: int, *, ready: Callable[[str], None], told: Callable[[str], None]
) -> None:
    """Serve the pages of a folder until it is cancelled.

    Args:
        folder: of reports; it need not be there yet.
        port: 0 for a free one.
        ready: gets the address once it answers.
        told: gets a line whenever the pages are new.

    Raises:
        CannotStart: the port cannot be had.
    """
    pages = Pages()
    with tempfile.TemporaryDirectory(prefix="bench-view-") as room:
        async with _listening(pages, port) as address:
            ready(address)
            await _follow(folder, Path(room), pages, told)


@contextlib.asynccontextmanager
async def _listening(pages: Pages, port: int) -> AsyncIterator[str]:
    made = application(pages)
    runner = web.AppRunner(made, access_log=None)
    await runner.setup()
    try:
        # No other address: there is no key, and nothing of this is for anybody else.
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except OSError as error:
            raise CannotStart(
                f"Port {port} cannot be had: {error.strerror or error}.",
                hint="Choose another --port, or none for a free one.",
            ) from error
        _, bound = runner.addresses[0][:2]
        made[_HOSTS].update(f"{name}:{bound}" for name in (HOST, "localhost"))
        if bound == 80:
            made[_HOSTS].update((HOST, "localhost"))
        yield f"http://{HOST}:{bound}/"
    finally:
        await runner.cleanup()


_PAGES = web.AppKey("pages", Pages)
_HOSTS = web.AppKey("hosts", set[str])


def application(pages: Pages) -> web.Application:
    """What answers requests; hosts are added once the port is known."""
    made = web.Application(middlewares=[_for_this_machine])
    made[_PAGES], made[_HOSTS] = pages, set()
    made.on_response_prepare.append(_with_headers)
    made.router.add_get("/", _page)
    made.router.add_get("/version", _version)
    made.router.add_get(f"/{SCRIPT}", _script)
    made.router.add_get("/{name}", _page)
    return made


@web.middleware
async def _for_this_machine(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    # A page from elsewhere whose name leads to loopback asks by that name.
    if request.headers.get("Host", "").lower() not in request.app[_HOSTS]:
        raise web.HTTPForbidden(text="Only for this machine, by its own address.\n")
    return await handler(request)


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


async def _version(request: web.Request) -> web.Response:
    pages = request.app[_PAGES]
    told = {"version": pages.version, "reports": pages.reports, "runs": pages.runs}
    return web.Response(body=orjson.dumps(told), content_type="application/json")


async def _script(_: web.Request) -> web.Response:
    body = (files("runner.reports.view") / SCRIPT).read_bytes()
    return web.Response(body=body, content_type="text/javascript", charset="utf-8")


_FIRST = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><title>Making pages</title>'
    b'<link rel="icon" href="data:,"><header></header><main>Making pages ...</main></html>'
)


async def _page(request: web.Request) -> web.Response:
    pages = request.app[_PAGES]
    name = request.match_info.get("name", "index.html")
    if not pages.files:
        return _html(_living(_FIRST, pages), status=200 if name == "index.html" else 503)
    # A name, and no path: what is not among the files is nowhere.
    body = pages.files.get(name)
    if body is None:
        raise web.HTTPNotFound(text="There is no such page (any more).\n")
    kind = TYPES.get(Path(name).suffix, "application/octet-stream")
    if kind == "text/html":
        return _html(_living(body, pages))
    return web.Response(body=body, content_type=kind, charset="utf-8")


def _html(body: bytes, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="text/html", charset="utf-8")


def _living(page: bytes, pages: Pages) -> bytes:
    """A page with what keeps it fresh, and with what is not shown."""
    lines = "".join(f"<li><bdi>{html.escape(plain(fault))}</bdi></li>" for fault in pages.faults)
    faults = f"<p>Not shown:</p><ul>{lines}</ul>" if lines else ""
    added = (
        f'<p id="view-status" role="status" aria-live="polite"></p><div id="view-faults">{faults}'
        f'</div><script src="{SCRIPT}" data-version="{pages.version}" defer></script>'
    )
    head, mark, rest = page.partition(b"</header>")
    return head + mark + added.encode() + rest


# ---------------------------------------------------------------- keeping it fresh


async def _follow(folder: Path, room: Path, pages: Pages, told: Callable[[str], None]) -> None:
    number = 0
    while True:
        now = version(scan(folder))
        if now != pages.version:
            number += 1
            await _renew(folder, room / str(number), now, pages)
            told(_line(pages))
        await asyncio.sleep(LOOK_S)


def _line(pages: Pages) -> str:
    not_shown = f", {len(pages.faults)} not shown" if pages.faults else ""
    reports = "1 report" if pages.reports == 1 else f"{pages.reports} reports"
    runs = "1 run" if pages.runs == 1 else f"{pages.runs} runs"
    return f"{reports}, {runs}{not_shown}"


async def _renew(folder: Path, out: Path, now: str, pages: Pages) -> None:
    """Make the pages, and put them in the place of those there are."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "runner.reports.view", str(folder), str(out),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = await process.communicate()
    finally:
        await _end(process)
    pages.version = now
    if process.returncode != 0:
        last = stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no word"]
        pages.faults = (f"The pages could not be made: {last[0]}",)
        return
    made = orjson.loads(stdout)
    pages.files = dict(_read(out))
    shutil.rmtree(out)
    pages.faults = tuple(made["faults"])
    pages.reports, pages.runs = made["reports"], made["runs"]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave nothing of it behind, on every way out."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _read(out: Path) -> Iterator[tuple[str, bytes]]:
    for path in out.iterdir():
        if path.suffix in TYPES:
            yield path.name, path.read_bytes()
