"""``python -m baselines_driver``: serve until standard input ends."""

from baselines_driver.driver import main

main()
