"""``python3 -m claude_mem_driver``: claude-mem behind its line protocol."""

from claude_mem_driver.driver import main

main()
