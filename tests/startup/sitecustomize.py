"""Fewer garbage collections in the Python processes that tests start.

Python imports this module in each of them, because tests/conftest.py adds its folder to PYTHONPATH. Each process
imports a thousand modules, which Python would search for garbage again and again: a tenth of the time of a start.
"""

import gc

gc.set_threshold(20_000, 20, 20)
