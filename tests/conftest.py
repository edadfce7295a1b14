"""One thread a test: the suite's own processes take the cores, and torch would fight over them."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
