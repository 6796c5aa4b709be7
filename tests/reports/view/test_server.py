from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession
from yarl import URL

from runner.errors import CannotStart
from runner.reports.view._server import HEADERS, Pages, _listening

PAGE = b"<!doctype html><title>t</title><header></header><main>hello</main>"
HOSTILE = "bad.json: <script>alert(1)</script> \x1b[31m \u202e"


@pytest.fixture
def pages() -> Pages:
    return Pages("v1", {"index.html": PAGE, "style.css": b"body{}"}, (HOSTILE,), 1, 3)


@pytest.fixture
async def address(pages: Pages) -> AsyncIterator[str]:
    async with _listening(pages, 0) as found:
        yield found


@pytest.fixture
async def client() -> AsyncIterator[ClientSession]:
    async with ClientSession() as made:
        yield made


async def test_pages_are_served_with_what_keeps_them_fresh(
    address: str, client: ClientSession
) -> None:
    for path in ("", "index.html"):
        async with client.get(address + path) as answer:
            text = await answer.text()
            assert answer.status == 200
            assert "hello" in text
            assert 'src="view.js" data-version="v1"' in text
            assert "aria-live" in text
    async with client.get(address + "version") as answer:
        assert await answer.json() == {"version": "v1", "reports": 1, "runs": 3}
    for name, kind in (("style.css", "text/css"), ("view.js", "text/javascript")):
        async with client.get(address + name) as answer:
            assert answer.content_type == kind


async def test_faults_are_words(address: str, client: ClientSession) -> None:
    async with client.get(address) as answer:
        text = await answer.text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "", "[::1]"])
async def test_a_page_from_elsewhere_gets_nothing(
    address: str, client: ClientSession, host: str
) -> None:
    for path in ("", "version", "style.css", "none"):
        async with client.get(address + path, headers={"Host": host}) as answer:
            assert answer.status == 403
            assert "hello" not in await answer.text()


async def test_it_answers_by_both_names_of_loopback(address: str, client: ClientSession) -> None:
    port = address.rsplit(":", 1)[1].strip("/")
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        async with client.get(address, headers={"Host": host}) as answer:
            assert answer.status == 200


@pytest.mark.parametrize("path", ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e", "none"])
async def test_nothing_but_pages_can_be_had(address: str, client: ClientSession, path: str) -> None:
    async with client.get(URL(address + path, encoded=True)) as answer:
        assert answer.status == 404
        assert "root:" not in await answer.text()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_it_is_for_reading(address: str, client: ClientSession, method: str) -> None:
    async with client.request(method, address) as answer:
        assert answer.status == 405


async def test_every_answer_has_the_headers(address: str, client: ClientSession) -> None:
    for path in ("", "version", "view.js", "none"):
        async with client.get(address + path) as answer:
            for name, value in HEADERS.items():
                assert answer.headers[name] == value


async def test_before_the_first_pages_it_says_so(client: ClientSession) -> None:
    async with _listening(Pages(), 0) as address, client.get(address) as answer:
        assert answer.status == 200
        assert "Making pages" in await answer.text()


async def test_where_no_page_could_be_made_it_says_why(client: ClientSession) -> None:
    broken = Pages("v1", faults=("The pages could not be made: no room",))
    async with _listening(broken, 0) as address, client.get(address) as answer:
        text = await answer.text()
        assert answer.status == 200
        assert "no room" in text
        assert 'data-version="v1"' in text


async def test_a_port_that_is_taken_is_told(address: str) -> None:
    port = int(address.rsplit(":", 1)[1].strip("/"))
    with pytest.raises(CannotStart, match=f"Port {port}"):
        async with _listening(Pages(), port):
            pass
