"""Charts of runs: each test reads its side files anew."""

import pytest

from webapp.register.runs.charts import telemetry


@pytest.fixture(autouse=True)
def no_kept_intervals():
    telemetry._reduced.cache_clear()
