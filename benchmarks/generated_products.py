"""Products with results, generated with a fixed seed: half published figures, half from logs."""

import random
from datetime import UTC, datetime
from decimal import Decimal

from results.models import Product, Profile, Run, Share, Verdict
from results.models.ids import new_product_slug

MAKERS = (
    *(
        "Intel",
        "Micron",
        "Samsung",
        "Kioxia",
        "Western Digital",
        "SanDisk",
        "ScaleFlux",
        "Smart IOPS",
        "Huawei",
        "Solidigm",
    ),
    *("SK hynix", "Seagate", "Toshiba", "Memblaze", "DapuStor", "Phison"),
)
CAPACITIES_GB = (800, 960, 1600, 1920, 3200, 3840, 6400, 7680, 12_800, 15_360, 30_720)
RATINGS = (Decimal(1), Decimal("1.3"), Decimal(3), Decimal(5), Decimal(10))
SEED = 6
BATCH = 10_000  # of runs, which bounds the memory
OPERATIONS = 172_800_000


def generate(count: int, seed: int = SEED, runs: int | None = None) -> None:
    """Store as many flash drives, each with one result, in addition to the existing ones.

    With `runs`, they share as many results.
    """
    draw = random.Random(seed)  # noqa: S311 - drives to measure with, no secret
    taken = set(Product.objects.values_list("slug", flat=True))
    products = Product.objects.bulk_create(_product(draw, taken) for _ in range(count))
    profile = Profile.objects.latest("rule_version")
    numbers = range(count if runs is None else runs)
    for first in numbers[::BATCH]:
        _store_runs(draw, products, numbers[first : first + BATCH], profile)


def _store_runs(draw: random.Random, products: list[Product], numbers: range, profile: Profile) -> None:
    # Of the two kinds of results, each product gets both if it has several.
    places = ((number, (number + number // len(products)) % len(products)) for number in numbers)
    runs = Run.objects.bulk_create(_run(draw, products[place], number) for number, place in places)
    Share.objects.bulk_create((share for run in runs for share in _shares(draw, run)), batch_size=5000)
    checked = [run for run in runs if run.statistic == "worst-slice"]
    Verdict.objects.bulk_create(
        Verdict(run=run, profile=profile, outcome="pass", headline="", document={}, reader_version="0")
        for run in checked
    )


def _product(draw: random.Random, taken: set[str]) -> Product:
    maker, series = draw.choice(MAKERS), draw.choice(("PM", "CM", "SN", "P", "DC ", "CSD "))
    model = f"{series}{draw.randrange(1000, 9999)}{draw.choice(('', ' Max', ' Pro', 'v'))}"
    capacity_gb = draw.choice(CAPACITIES_GB)
    slug = new_product_slug(maker, model, capacity_gb, taken)
    taken.add(slug)
    return Product(
        slug=slug,
        part_number="" if slug.endswith("gb") else slug.rpartition("-")[2],  # identities are unique
        category="nvme-flash",
        vendor=maker,
        model=model,
        capacity_gb=capacity_gb,
        pcie_gen=draw.choice(("", "3.0", "4.0", "5.0")),
        endurance_dwpd=draw.choice(RATINGS),
    )


def _run(draw: random.Random, product: Product, number: int) -> Run:
    stored = number % 2
    return Run(
        product=product,
        tier="lab-verified" if stored else "published",
        visibility="public",
        statistic="worst-slice" if stored else "steady-as-published",
        tps=Decimal(3000 * draw.randrange(10, 700)),
        tool_version=draw.choice(("5.3", "6.1", "6.2", "6.4")),
        source="" if stored else draw.choice(("Aerospike", product.vendor)),
        firmware=f"FW{draw.randrange(20)}" if stored else "",
        started_at=datetime(2026, 1 + number % 12, 1, tzinfo=UTC) if stored else None,
        published_at=datetime(2026, 1 + number % 11, 1 + number % 27, tzinfo=UTC),
        compress_pct=draw.choice((None, 100, 50)),
        duration_s=86_400,
    )


def _shares(draw: random.Random, run: Run) -> list[Share]:
    """Return shares over 1, 8 and 64 ms: two places as printed; of a log with their counts, exact to nine."""
    limits = ((1_000, 6.0), (8_000, 0.6), (64_000, 0.02))
    return [_share(run, threshold_us, draw.random() ** 2 * most) for threshold_us, most in limits]


def _share(run: Run, threshold_us: int, percent: float) -> Share:
    printed = f"{percent:.2f}"
    if run.statistic != "worst-slice":
        return Share(
            run=run, statistic=run.statistic, threshold_us=threshold_us, share_pct=Decimal(printed), printed=printed
        )
    over = int(OPERATIONS * percent / 100)
    exact = Decimal(-(-over * 100 * 10**9 // OPERATIONS)).scaleb(-9)
    return Share(
        run=run, statistic=run.statistic, threshold_us=threshold_us, share_pct=exact, printed=f"{exact:.2f}",
        over_count=over, ops_count=OPERATIONS,
    )  # fmt: skip
