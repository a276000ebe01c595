"""Reasons why a claim cannot be recomputed: each code has the details that its sentence needs."""

import pytest

from results.rules.ycsb.claim_reasons import Reason, ReasonCode

DETAILS = {
    ReasonCode.NO_COMPUTATION: {},
    ReasonCode.UNKNOWN_COMPUTATION: {"stated": "a squared"},
    ReasonCode.OTHER_UNIT: {"unit": "x", "stated": "%"},
    ReasonCode.DIVISION_BY_0: {},
    ReasonCode.NO_METRIC: {"stated": "prettier"},
    ReasonCode.NO_DIRECTION: {"metric": "colour"},
    ReasonCode.NO_FIXED_QUANTITY: {"quantity": "throughput", "stated": "faster"},
    ReasonCode.NO_LATENCY: {"stated": "throughput at 5 ms"},
    ReasonCode.NO_FIGURE: {"metric": "runtime", "drive": "7400 PRO", "workload": "F"},
    ReasonCode.SEVERAL_FIGURES: {"drive": "7400 PRO", "count": 0},
    ReasonCode.SEVERAL_AT_A_THREAD_COUNT: {"drive": "7400 PRO", "metric": "runtime"},
    ReasonCode.NO_THROUGHPUT: {"drive": "7400 PRO"},
}


@pytest.mark.parametrize("code", ReasonCode)
def test_a_reason_has_all_details_of_its_sentence_and_no_other(code):
    details = DETAILS[code]
    sentence = Reason(code, **details).sentence()
    assert all(str(detail) in sentence for detail in details.values())
    for name in details:
        without = {other: detail for other, detail in details.items() if other != name}
        with pytest.raises(ValueError, match=f"^{code}: expected the details .*'{name}'"):
            Reason(code, **without)
    other = {"unit": "x"} if "workload" in details else {"workload": "A"}
    with pytest.raises(ValueError, match=f"^{code}: expected the details"):
        Reason(code, **details | other)
