"""``python -m page_router``: the router behind its line protocol."""

from page_router.driver import main

main()
