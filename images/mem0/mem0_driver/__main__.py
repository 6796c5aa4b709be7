"""``python -m mem0_driver``: serve until standard input ends."""

from mem0_driver.driver import main

main()
