"""``python -m basic_memory_driver``: serve until standard input ends."""

from basic_memory_driver.driver import main

main()
