"""Addresses from which a crawl starts, and bounds on how many of a kind it visits."""

import re
import urllib.parse

CATEGORIES = ("nvme-flash", "nvme-3dxpoint", "m2-flash", "sata-sas-flash", "cloud", "networked", "historical")
LISTS = ("/drives/", *(f"/drives/{category}/" for category in CATEGORIES), "/ycsb/", "/ycsb/claims/", "/compare/")
ROOTS = (
    "/", "/sitemap.xml", "/robots.txt", "/favicon.ico", "/feed.atom", "/data/", "/healthz", "/readyz",
    "/search/", "/search/?q=intel", "/search/?q=micorn", "/search/?q=nosuchdrive", "/nines/", "/nines/?n=100",
    "/sizing/", "/check/", "/check/answer/", "/explain/", "/explain/rules/", "/explain/tools/",
    "/explain/generator/", "/explain/submit/", "/explain/glossary/", "/drives/rows.json",
    "/about/", "/news/", "/news/feed.atom", "/news/?before=abc", "/news/1999-01/", "/certificates/c-nosuchid/",
    "/submit/", "/submissions/", "/lab/", "/accounts/login/", "/review/runs/r-nosuchid/",
    "/api/v1/", "/api/v1/schema/", "/api/v1/docs/", "/api/v1/nosuch/", "/api/v1/submissions/", "/api/v1/validate/",
    "/api/v1/check/", "/api/v1/runs/?over_us=1000&at_most_pct=0.5", "/api/v1/runs/?over_us=1000",
    "/api/v1/runs/r-nosuchid/", "/api/v1/products/nosuch/", "/api/v1/certificates/c-nosuchid/",
    "/nosuch/", "/drives/nosuch/", "/drive/nosuch/", "/runs/r-nosuchid/", "/ycsb/nosuch/",
    "/ycsb/impossible/", "/ycsb/loads/0123456789abcdef/", "/ycsb/claims/?outcome=contradicted",
    "/ycsb/claims/?brief=micron-7400-brief",
    "/ycsb/claims/?outcome=nosuch", "/ycsb/claims/micron-7400-brief/nosuch/",
    "/drives/?min_tps=100000", "/drives/?min_tps=abc", "/drives/?nosuch=1", "/drives/?sort=nosuch",
    "/drives/?limit_1ms=3",
    "/drives/nvme-flash/?min_tps=300000&sort=drive", "/drives/nvme-flash/?vendor=intel~micron&historical=include",
    "/drives/nvme-flash/?max_1ms=3.5&sort=-tps_per_tb", "/drives/nvme-flash/?format=nosuch",
    *LISTS,
    *(f"{path}?format={form}" for path in LISTS for form in ("csv", "json")),
    *(f"/drives/{category}/feed.atom" for category in CATEGORIES),
)  # fmt: skip
# Files of a product or run to which not every page links.
OF_PRODUCT = ("feed.atom", "badge.svg", "picture.png", "?format=csv", "?format=json")
OF_RUN = (
    "slices.csv", "slice-chart.json", "over-time.json", "over-time.csv", "rates.csv", "telemetry.csv", "telemetry.json",
    "histograms.csv", "histograms.json", "histograms.parquet", "again.conf", "status-lines.csv", "log", "slices/1/",
    "lines/1/", "lines/1-20/",
)  # fmt: skip
PATHS_OF_PATTERN = 1500
PATHS_OF = {"/runs/*/lines/*/": 200, "/runs/*/slices/*/": 200, "/api/v1/runs/*/intervals/": 150}
QUERIES_OF_PATTERN = 80
QUERIES_OF_NAMES = 6


def pattern_of(address: str) -> str:
    """Return an address without query, with a star for each part that names one row."""
    path = address.partition("?")[0]
    path = re.sub(r"(?<=/)[rscp]~[^/]+|(?<=/)<[^/]+>", "*", path)
    path = re.sub(r"(?<=^/drive/)[^/]+|(?<=/products/)[^/]+|(?<=/loads/)[^/]+|(?<=/companions/)[^/]+", "*", path)
    path = re.sub(r"(?<=^/vendors/)[^/]+", "*", path)
    return re.sub(r"(?<=/)[\d-]+(?=[/.]|$)", "*", path)


class Bounds:
    """How many addresses of each pattern are visited, and how many questions of each path pattern."""

    def __init__(self) -> None:
        self._visited: dict[tuple[str, ...], int] = {}
        self.refused: set[str] = set()

    def admit(self, address: str) -> bool:
        """Return whether the address is visited, and count it; the roots always are."""
        pattern, query = pattern_of(address), urllib.parse.urlsplit(address).query
        names = tuple(sorted({name for name, _ in urllib.parse.parse_qsl(query, keep_blank_values=True)}))
        if "cursor" in names:
            return False
        if address in ROOTS:
            return True
        # Every list as a file, one for each product.
        if not query or names == ("format",) or pattern in PATHS_OF:
            limits: dict[tuple[str, ...], int] = {(pattern, query): PATHS_OF.get(pattern, PATHS_OF_PATTERN)}
        else:
            limits = {(pattern,): QUERIES_OF_PATTERN, (pattern, *names): QUERIES_OF_NAMES}
        if any(self._visited.get(key, 0) >= most for key, most in limits.items()):
            self.refused.add(address)
            return False
        for key in limits:
            self._visited[key] = self._visited.get(key, 0) + 1
        return True


def siblings(paths: list[str], logged: set[str]) -> list[str]:
    """Return the files of each product, of each run with a log, and their rows of the API."""
    found = []
    for path in paths:
        if product := re.fullmatch(r"/drive/([^/?]+)/", path):
            found += [f"{path}{name}" for name in OF_PRODUCT] + [f"/api/v1/products/{product[1]}/"]
        elif run := re.fullmatch(r"/runs/([^/?]+)/", path):
            found += [f"/id/{run[1]}", f"/api/v1/runs/{run[1]}/"]
            if run[1] in logged:
                found += [f"{path}{name}" for name in OF_RUN] + [f"/api/v1/runs/{run[1]}/intervals/?every_s=5"]
    return found
