"""``python -m memory_engine``: the engine behind its line protocol."""

from memory_engine.driver import main

main()
