"""Sizing in hand-made cases: one for each requirement, both sides of each edge, and properties over many demands."""

import itertools
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules import sizing
from results.rules.sizing import Demand, Offer

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
QUICK_AND_LARGE = Offer(Fraction(10**9), 10**15, Fraction(1000))


def sized(offer=QUICK_AND_LARGE, **changes):
    return sizing.size(replace(DEMAND, **changes), offer, PROFILE)


def test_writes_are_sent_to_every_copy_and_reads_to_one():
    assert (sizing.drive_writes_per_s(DEMAND), sizing.drive_tps(DEMAND)) == (200_000, 600_000)
    assert sizing.drive_tps(replace(DEMAND, replication_factor=3)) == 700_000


@pytest.mark.parametrize(("tps", "drives"), [(200_000, 3), (199_999, 4), (600_000, 2), (150_000, 4)])
def test_throughput_is_rounded_up_to_whole_drives_and_each_copy_has_its_node(tps, drives):
    found = sized(replace(QUICK_AND_LARGE, tps=Fraction(tps)))
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
    found = sized(Offer(Fraction(10**9), TB, rating))
    assert found.drives == drives
    assert found.binding == ("capacity" if rating == 10 else "endurance")
    assert found.dwpd <= rating


def test_an_unstated_rating_is_not_met_and_sets_no_bound():
    found = sized(Offer(Fraction(100_000), 10**15, None))
    assert (found.needs.endurance, found.binding, found.drives) == (None, "throughput", 6)


@pytest.mark.parametrize(
    ("per_node", "spare", "nodes", "drives"), [(1, 0, 6, 6), (4, 0, 2, 8), (4, 1, 3, 12), (6, 2, 3, 18)]
)
def test_spare_nodes_are_added_to_the_working_nodes(per_node, spare, nodes, drives):
    copies = 1 if per_node == 6 else 2
    demand = replace(DEMAND, writes_per_s=Fraction(200_000 // copies), replication_factor=copies)
    offer = Offer(Fraction(100_000), 10**15, None)
    found = sizing.size(replace(demand, drives_per_node=per_node, spare_nodes=spare), offer, PROFILE)
    assert (found.nodes, found.drives, found.working_drives) == (nodes, drives, drives - spare * per_node)


@pytest.mark.parametrize(("object_bytes", "is_tested"), [(1025, True), (1500, True), (1535, True), (1024, False)])
def test_an_object_read_as_the_same_sectors_counts_as_tested_with_a_note(object_bytes, is_tested):
    demand = replace(DEMAND, object_bytes=object_bytes)
    assert (sized(object_bytes=object_bytes).drives is not None) == is_tested
    assert bool(sizing.object_size_note(demand, PROFILE)) == is_tested
    assert sizing.object_size_note(DEMAND, PROFILE) == ""


@pytest.mark.parametrize("object_bytes", [1024, 1537, 4096])
def test_an_object_of_another_size_is_untested_and_gets_no_result(object_bytes):
    found = sized(object_bytes=object_bytes)
    assert (found.drives, found.needs.throughput, found.needs.capacity) == (None, None, 1)


@pytest.mark.parametrize(("reads", "is_tested"), [("66", True), ("65.9", False), ("68", True), ("68.1", False)])
def test_the_share_of_reads_on_the_drives_may_differ_within_the_tolerance(reads, is_tested):
    reads_pct = Fraction(Decimal(reads))
    found = sized(reads_per_s=reads_pct * 1000, writes_per_s=(100 - reads_pct) * 1000 / 2)
    assert (found.drives is not None) == is_tested


def test_a_third_copy_of_the_same_clients_is_another_workload():
    (reason,) = sizing.untested(replace(DEMAND, replication_factor=3), PROFILE)
    assert reason == "57.1 % of the requests to your drives are reads, and tests used 67 % ± 1"


def test_a_demand_without_load_is_sized_by_capacity():
    found = sized(Offer(Fraction(1000), 10 * TB, Fraction(1)), reads_per_s=Fraction(0), writes_per_s=Fraction(0))
    assert (found.drives, found.binding, found.dwpd) == (4, "capacity", 0)


def test_the_price_is_for_all_drives_and_unknown_without_a_drive_price():
    assert sized(replace(QUICK_AND_LARGE, price=Fraction(999)), drives_per_node=4).price == 999 * 8
    assert sized().price is None


GRID = [
    (Fraction(reads), copies, Fraction(usable, 100), per_node, spare)
    for reads, copies, usable, per_node, spare in itertools.product(
        (2_000, 777_777, 40_000_000), (1, 2, 3), (1, 33, 100), (1, 7), (0, 2)
    )
]
OFFERS = [
    Offer(Fraction(tps), gb * 10**9, dwpd)
    for tps, gb, dwpd in itertools.product((90_000, 1_728_000), (480, 6400), (None, Fraction(1, 3), Fraction(30)))
]


def suffices(demand, offer, drives):
    return (
        drives * offer.tps >= sizing.drive_tps(demand)
        and drives * offer.capacity_bytes >= sizing.capacity_bytes(demand)
        and (offer.dwpd is None or sizing.needed_dwpd(demand, drives, offer.capacity_bytes) <= offer.dwpd)
        and drives >= demand.replication_factor * demand.drives_per_node
    )


@pytest.mark.parametrize("offer", OFFERS)
def test_the_working_nodes_suffice_and_one_node_fewer_does_not(offer):
    for reads, copies, usable, per_node, spare in GRID:
        demand = replace(
            DEMAND,
            reads_per_s=reads,
            writes_per_s=reads / 2 / copies,
            replication_factor=copies,
            usable_ratio=usable,
            drives_per_node=per_node,
            spare_nodes=spare,
        )
        found = sizing.size(demand, offer, PROFILE)
        fewer = found.working_drives - per_node
        assert suffices(demand, offer, found.working_drives)
        assert fewer == 0 or not suffices(demand, offer, fewer)
        assert found.drives == found.working_drives + spare * per_node


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
    demand = replace(DEMAND, replication_factor=2, reads_per_s=Fraction(1), drives_per_node=4, spare_nodes=1)
    found = sizing.size(demand, Offer(Fraction(1), capacity_bytes, dwpd), PROFILE)
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
        assert sizing.untested(changed, PROFILE) == ()


def test_the_tested_mix_by_hand():
    # 300,000 / 0.67 x 0.33 / 2 copies = 73,881; 75,000 x 2 / 0.33 x 0.67 = 304,545
    demand = replace(DEMAND, reads_per_s=Fraction(300_000), writes_per_s=Fraction(75_000))
    assert sizing.writes_as_tested(demand, PROFILE) == 73_900
    assert sizing.reads_as_tested(demand, PROFILE) == 305_000
