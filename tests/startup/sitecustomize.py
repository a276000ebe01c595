"""Fewer garbage collections in the Python processes that tests start.

Python imports this module, because tests/conftest.py adds its folder to PYTHONPATH. Each process imports a thousand
modules, which Python would search for garbage again and again: a tenth of the time of a start. The registers of
tests/faults/test_supervisor.py and test_always_up.py start without it, as `make run` does.
"""

import gc

gc.set_threshold(20_000, 20, 20)
