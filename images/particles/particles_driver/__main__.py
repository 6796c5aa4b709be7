"""``python -m particles_driver``: serve until standard input ends."""

import sys

from particles_driver.driver import main

sys.exit(main())
