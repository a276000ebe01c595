"""Sizing in hand-made cases: one for each requirement, both sides of each edge, and properties over many demands."""

import itertools
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules import sizing
from results.rules.sizing import Demand, Mix, Offer, rates_of_act

PROFILE = sizing.Tested(Decimal(67), Decimal(1), 1536)
TB = 10**12
# 400,000 reads/s and 100,000 writes/s in two copies: 600,000 tps on the drives, two thirds of them reads.
DEMAND = Demand(
    reads_per_s=Fraction(400_000),
    writes_per_s=Fraction(100_000),
    object_bytes=1536,
    data_bytes=Fraction(10 * TB),
    replication_factor=2,
    usable_ratio=Fraction(1, 2),
    defrag_ratio=Fraction(1, 2),
    drives_per_node=1,
    spare_nodes=0,
    life_years=Fraction(5),
    warranty_years=Fraction(5),
)


def offer_of(tps, capacity_bytes, dwpd=None, price=None):
    """Return a drive that was tested with ACT's two reads to one write."""
    return Offer(*rates_of_act(tps), capacity_bytes, dwpd, price)


QUICK_AND_LARGE = offer_of(10**9, 10**15, Fraction(1000))


def sized(offer=QUICK_AND_LARGE, **changes):
    return sizing.size(replace(DEMAND, **changes), offer, PROFILE)


def test_writes_are_sent_to_every_copy_and_reads_to_one():
    assert (sizing.drive_writes_per_s(DEMAND), sizing.drive_tps(DEMAND)) == (200_000, 600_000)
    assert sizing.drive_tps(replace(DEMAND, replication_factor=3)) == 700_000


@pytest.mark.parametrize(("tps", "drives"), [(200_000, 3), (199_999, 4), (600_000, 2), (150_000, 4)])
def test_throughput_is_rounded_up_to_whole_drives_and_each_copy_has_its_node(tps, drives):
    found = sized(offer_of(tps, 10**15, Fraction(1000)))
    assert found.drives == drives
    assert found.binding == ("copies" if tps == 600_000 else "throughput")


@pytest.mark.parametrize(("capacity_bytes", "drives"), [(10 * TB, 4), (10 * TB - 1, 5), (8 * TB, 5)])
def test_capacity_is_data_times_copies_over_the_usable_part(capacity_bytes, drives):
    assert sizing.capacity_bytes(DEMAND) == 40 * TB
    found = sized(replace(QUICK_AND_LARGE, capacity_bytes=capacity_bytes))
    assert (found.drives, found.binding) == (drives, "capacity")


def test_host_bytes_a_day_by_hand():
    # 100,000 writes/s x 2 copies x 1,536 bytes x 1 / (1 - 0.5) x 86,400 s
    assert sizing.host_bytes_per_day(DEMAND) == 100_000 * 2 * 1536 * 2 * 86_400 == 53_084_160_000_000


def test_the_writes_of_acts_own_load_match_its_readme():
    # 1x: 1,000 writes/s of 1,536 bytes. ACT writes 23.53 blocks of 128 KiB a second, whole records in each: 0.4 % more.
    alone = replace(DEMAND, writes_per_s=Fraction(1000), replication_factor=1)
    act_bytes = Fraction("23.53") * 128 * 1024 * 86_400
    assert sizing.host_bytes_per_day(alone) == pytest.approx(float(act_bytes), rel=0.005)


@pytest.mark.parametrize(
    ("life", "warranty", "dwpd"), [(5, 5, 1), (10, 5, 2), (5, 10, Fraction(1, 2)), (3, 5, Fraction(3, 5))]
)
def test_needed_dwpd_grows_with_life_and_falls_with_warranty(life, warranty, dwpd):
    demand = replace(DEMAND, life_years=Fraction(life), warranty_years=Fraction(warranty))
    assert sizing.needed_dwpd(demand, 4, 53_084_160_000_000 // 4) == dwpd


@pytest.mark.parametrize(
    ("rating", "drives"), [(Fraction(1), 54), (Fraction(53_084_160, 50_000_000), 50), (Fraction(10), 40)]
)
def test_endurance_adds_drives_until_the_rating_suffices(rating, drives):
    found = sized(offer_of(10**9, TB, rating))
    assert found.drives == drives
    assert found.binding == ("capacity" if rating == 10 else "endurance")
    assert found.dwpd <= rating


def test_an_unstated_rating_is_not_met_and_sets_no_bound():
    found = sized(offer_of(100_000, 10**15))
    assert (found.needs.endurance, found.binding, found.drives) == (None, "throughput", 6)


@pytest.mark.parametrize(
    ("per_node", "spare", "nodes", "drives"), [(1, 0, 6, 6), (4, 0, 2, 8), (4, 1, 3, 12), (6, 2, 3, 18)]
)
def test_spare_nodes_are_added_to_the_working_nodes(per_node, spare, nodes, drives):
    copies = 1 if per_node == 6 else 2
    demand = replace(DEMAND, writes_per_s=Fraction(200_000 // copies), replication_factor=copies)
    offer = offer_of(100_000, 10**15)
    found = sizing.size(replace(demand, drives_per_node=per_node, spare_nodes=spare), offer, PROFILE)
    assert (found.nodes, found.drives, found.working_drives) == (nodes, drives, drives - spare * per_node)


@pytest.mark.parametrize(
    ("object_bytes", "mix"),
    [(1025, Mix.TESTED), (1500, Mix.TESTED), (1536, Mix.TESTED), (1024, Mix.BOUND), (1, Mix.BOUND)],
)
def test_an_object_read_as_the_same_sectors_counts_as_tested_with_a_note(object_bytes, mix):
    demand = replace(DEMAND, object_bytes=object_bytes)
    assert sized(object_bytes=object_bytes).mix == mix
    assert bool(sizing.object_size_note(demand, PROFILE)) == (mix is Mix.TESTED and object_bytes != 1536)


@pytest.mark.parametrize("object_bytes", [1, 1024, 1536])
def test_a_smaller_object_counts_as_a_request_of_the_tested_size(object_bytes):
    found = sized(offer_of(200_000, 10**15), object_bytes=object_bytes)
    assert (found.needs.throughput, found.needs.capacity) == (3, 1)


@pytest.mark.parametrize("object_bytes", [1537, 4096])
def test_a_larger_object_is_untested_and_gets_no_result(object_bytes):
    found = sized(object_bytes=object_bytes)
    assert (found.mix, found.drives, found.needs.throughput, found.needs.capacity) == (Mix.UNTESTED, None, None, 1)


@pytest.mark.parametrize(
    ("reads", "mix"), [("66", Mix.TESTED), ("65.9", Mix.BOUND), ("68", Mix.TESTED), ("68.1", Mix.BOUND)]
)
def test_the_share_of_reads_on_the_drives_may_differ_within_the_tolerance(reads, mix):
    reads_pct = Fraction(Decimal(reads))
    found = sized(reads_per_s=reads_pct * 1000, writes_per_s=(100 - reads_pct) * 1000 / 2)
    assert (found.mix, found.drives is not None) == (mix, True)


def test_a_third_copy_of_the_same_clients_is_another_mix():
    (reason,) = sizing.differences_from_test(replace(DEMAND, replication_factor=3), PROFILE)
    assert reason == "57.1 % of the requests to your drives are reads, and tests used 67 % ± 1"


# A drive that was tested at 200,000 reads/s and 100,000 writes/s; two copies of each write.
@pytest.mark.parametrize(
    ("reads", "writes", "drives", "limiting"),
    [
        (600_000, 150_000, 3, "both"),
        (600_000, 0, 3, "reads"),
        (600_001, 0, 4, "reads"),
        (0, 150_000, 3, "writes"),
        (0, 150_001, 4, "writes"),
        (600_000, 150_001, 4, "writes"),
        (1, 500_000, 10, "writes"),
        (5_000_000, 1_000_000, 25, "reads"),
    ],
)
def test_each_rate_is_compared_with_its_own_tested_rate(reads, writes, drives, limiting):
    demand = replace(DEMAND, reads_per_s=Fraction(reads), writes_per_s=Fraction(writes))
    offer = offer_of(300_000, 10**15)
    assert sizing.size(demand, offer, PROFILE).needs.throughput == drives
    by_reads, by_writes = sizing.drives_for_reads(demand, offer), sizing.drives_for_writes(demand, offer)
    assert {"both": by_reads == by_writes, "reads": by_reads > by_writes, "writes": by_writes > by_reads}[limiting]


@pytest.mark.parametrize("tps", [1, 2, 89_999, 90_001, 1_728_000])
def test_the_tested_ratio_itself_needs_as_many_drives_as_its_requests_together(tps):
    for reads in (2, 200, 777_776, 40_000_000):
        demand = replace(DEMAND, reads_per_s=Fraction(reads), writes_per_s=Fraction(reads, 4))
        found = sizing.size(demand, offer_of(tps, 10**15), PROFILE)
        assert found.needs.throughput == -(-sizing.drive_tps(demand) // tps)


@pytest.mark.parametrize(
    ("writes", "margin", "is_narrow"), [("0", 1, False), ("1", "0.5", True), ("0.99", "0.505", False), ("2", 0, True)]
)
def test_the_margin_is_the_part_of_the_rating_that_is_left(writes, margin, is_narrow):
    # One write/s of 1,600 bytes is 276.48 MB a day with defragmentation; the drive may be written twice as much.
    demand = replace(DEMAND, writes_per_s=Fraction(writes), reads_per_s=Fraction(0), object_bytes=1600)
    demand = replace(demand, replication_factor=1, data_bytes=Fraction(0))
    larger = sizing.Tested(Decimal(67), Decimal(1), 4096)
    found = sizing.size(demand, offer_of(10**9, 276_480_000, Fraction(2)), larger)
    assert (found.working_drives, found.margin, found.is_margin_narrow) == (1, Fraction(margin), is_narrow)


def test_a_drive_of_one_dwpd_that_needs_0_72_has_a_narrow_margin():
    assert sizing.endurance_margin(Fraction("0.72"), Fraction(1)) == Fraction("0.28") <= sizing.NARROW_MARGIN
    assert sized(offer_of(10**9, 10**15)).margin is None


def test_a_demand_without_load_is_sized_by_capacity():
    found = sized(offer_of(1000, 10 * TB, Fraction(1)), reads_per_s=Fraction(0), writes_per_s=Fraction(0))
    assert (found.drives, found.binding, found.dwpd) == (4, "capacity", 0)


def test_the_price_is_for_all_drives_and_unknown_without_a_drive_price():
    assert sized(replace(QUICK_AND_LARGE, price=Fraction(999)), drives_per_node=4).price == 999 * 8
    assert sized().price is None


GRID = [
    (Fraction(reads), Fraction(writes), copies, Fraction(usable, 100), per_node, spare)
    for reads, writes, copies, usable, per_node, spare in itertools.product(
        (0, 2_000, 40_000_000), (0, 1_000, 777_777), (1, 2, 3), (1, 100), (1, 7), (0, 2)
    )
]
OFFERS = [
    offer_of(tps, gb * 10**9, dwpd)
    for tps, gb, dwpd in itertools.product((90_000, 1_728_000), (480, 6400), (None, Fraction(1, 3), Fraction(30)))
]


def suffices(demand, offer, drives):
    return (
        drives * offer.reads_per_s >= demand.reads_per_s
        and drives * offer.writes_per_s >= sizing.drive_writes_per_s(demand)
        and drives * offer.capacity_bytes >= sizing.capacity_bytes(demand)
        and (offer.dwpd is None or sizing.needed_dwpd(demand, drives, offer.capacity_bytes) <= offer.dwpd)
        and drives >= demand.replication_factor * demand.drives_per_node
    )


def grid_demands():
    for reads, writes, copies, usable, per_node, spare in GRID:
        yield replace(
            DEMAND,
            reads_per_s=reads,
            writes_per_s=writes,
            replication_factor=copies,
            usable_ratio=usable,
            drives_per_node=per_node,
            spare_nodes=spare,
        )


@pytest.mark.parametrize("offer", OFFERS)
def test_the_working_nodes_suffice_and_one_node_fewer_does_not(offer):
    for demand in grid_demands():
        found = sizing.size(demand, offer, PROFILE)
        fewer = found.working_drives - demand.drives_per_node
        assert suffices(demand, offer, found.working_drives)
        assert suffices(demand, offer, found.working_drives + 1)  # more drives never hold less
        assert fewer == 0 or not suffices(demand, offer, fewer)
        assert found.drives == found.working_drives + demand.spare_nodes * demand.drives_per_node
        assert found.margin is None or 0 <= found.margin <= 1


LARGER = {
    "reads_per_s": lambda demand: demand.reads_per_s + 1,
    "writes_per_s": lambda demand: demand.writes_per_s + 1,
    "data_bytes": lambda demand: demand.data_bytes * 2,
    "replication_factor": lambda demand: demand.replication_factor + 1,
    "spare_nodes": lambda demand: demand.spare_nodes + 1,
    "life_years": lambda demand: demand.life_years * 2,
}


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("offer", OFFERS[::3])
def test_a_larger_demand_never_needs_fewer_drives(offer, name):
    for demand in grid_demands():
        larger = replace(demand, **{name: LARGER[name](demand)})
        assert sizing.size(larger, offer, PROFILE).drives >= sizing.size(demand, offer, PROFILE).drives


@pytest.mark.parametrize("offer", OFFERS)
def test_a_mix_never_exceeds_the_tested_speed(offer):
    for demand in grid_demands():
        found = sizing.size(demand, offer, PROFILE)
        assert found.needs.throughput * offer.tps >= sizing.drive_tps(demand)


# 40 TB in drives of 1 TB, four of them a node, one node spare: 10 working nodes for any load.
@pytest.mark.parametrize(
    ("capacity_bytes", "dwpd", "binding", "nodes"),
    [
        (TB, Fraction(1000), "capacity", 11),
        (100 * TB, Fraction(1, 100), "endurance", 15),
        (100 * TB, None, "copies", 3),
    ],
)
def test_an_untested_load_still_has_the_bounds_of_capacity_and_endurance(capacity_bytes, dwpd, binding, nodes):
    demand = replace(DEMAND, object_bytes=1537, writes_per_s=Fraction(100_000 * 1536, 1552))
    demand = replace(demand, replication_factor=2, reads_per_s=Fraction(1), drives_per_node=4, spare_nodes=1)
    found = sizing.size(demand, offer_of(1, capacity_bytes, dwpd), PROFILE)
    assert (found.drives, found.nodes, found.price) == (None, None, None)
    assert found.least == sizing.Least(binding, nodes, 4 * nodes)


def test_a_tested_load_has_a_result_and_no_separate_bound():
    assert sized().least is None


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("rate", ["0.001", "7", "123456", "300000", "999999999"])
def test_a_mix_offered_as_tested_is_tested(copies, rate):
    demand = replace(DEMAND, replication_factor=copies, reads_per_s=Fraction(rate), writes_per_s=Fraction(rate))
    for changed in (
        replace(demand, writes_per_s=sizing.writes_as_tested(demand, PROFILE)),
        replace(demand, reads_per_s=sizing.reads_as_tested(demand, PROFILE)),
    ):
        assert sizing.mix_of(changed, PROFILE) is Mix.TESTED


def test_the_tested_mix_by_hand():
    # 300,000 / 0.67 x 0.33 / 2 copies = 73,881; 75,000 x 2 / 0.33 x 0.67 = 304,545
    demand = replace(DEMAND, reads_per_s=Fraction(300_000), writes_per_s=Fraction(75_000))
    assert sizing.writes_as_tested(demand, PROFILE) == 73_900
    assert sizing.reads_as_tested(demand, PROFILE) == 305_000


@pytest.mark.parametrize(("speed_pct", "drives"), [(100, 3), (75, 4), (Fraction("74.999999"), 5), (50, 6)])
def test_headroom_leaves_a_part_of_the_tested_speed_unused(speed_pct, drives):
    found = sized(offer_of(200_000, 10**15, Fraction(1000)), speed_ratio=Fraction(speed_pct) / 100)
    assert (found.drives, found.binding) == (drives, "throughput")


@pytest.mark.parametrize("object_bytes", [1536, 4096], ids=["tested", "untested"])
@pytest.mark.parametrize("speed_ratio", [Fraction(1), Fraction(4, 5)])
@pytest.mark.parametrize(("per_node", "spare", "copies"), [(1, 0, 2), (4, 1, 3), (3, 2, 1)])
@pytest.mark.parametrize("scale", [0, Fraction(1, 7), 1, 300])
def test_the_drives_of_many_offers_are_those_of_each(object_bytes, speed_ratio, per_node, spare, copies, scale):
    draw = random.Random(7)  # noqa: S311 - cases, no secret
    offers = [
        replace(
            offer_of(draw.randrange(1, 400) * 1000, draw.randrange(1, 30) * TB, draw.choice((None, Fraction(1, 3), 5))),
            tested_bytes=draw.choice((None, TB)),
        )
        for _ in range(200)
    ]
    demand = replace(
        DEMAND, object_bytes=object_bytes, speed_ratio=speed_ratio, drives_per_node=per_node, spare_nodes=spare,
        replication_factor=copies, reads_per_s=DEMAND.reads_per_s * scale, data_bytes=DEMAND.data_bytes * (scale or 1),
    )  # fmt: skip
    found = [sizing.size(demand, each, PROFILE) for each in offers]
    expected = [each.least.drives if each.least else each.drives for each in found]
    assert sizing.Offers(offers).drives(demand, PROFILE) == expected
    assert len(set(expected)) > 1
