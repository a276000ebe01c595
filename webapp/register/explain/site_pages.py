"""The pages of the site, each in one sentence: `/explain/` lists them, and the search finds them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SitePage:
    """One page: its name, its address, and what it has; the search also finds it by `other_names`, with commas."""

    name: str
    address: str
    sentence: str
    other_names: str = ""


SITE_PAGES = (
    SitePage(
        "Drives",
        "/",
        "The home page shows which drives were tested at your load within your latency limits.",
        "fastest, fastest drive, fastest ssd, best drive, best ssd",
    ),
    SitePage("All drives in one table", "/drives/", "This table lists the drives of all categories."),
    SitePage(
        "Cloud instances",
        "/drives/cloud/",
        "This page shows the fastest instance of each cloud provider, and lists all instances.",
        "cloud, best cloud instance, fastest cloud instance, virtual machine",
    ),
    SitePage(
        "Speed that the endurance rating allows",
        "/drives/nvme-flash/?over_rating=no",
        "This table lists the NVMe flash drives whose endurance rating allows their tested speed.",
        "wear, wear out, lifetime, does a fast drive wear out sooner, endurance",
    ),
    SitePage("Historical drives", "/drives/historical/", "This page lists drives that are no longer recommended."),
    SitePage("Search", "/search/", "The search finds drives, publications, claims, terms and pages."),
    SitePage("Compare", "/compare/", "This page shows two to six results side by side, if they are comparable."),
    SitePage("Sizing", "/sizing/", "This page computes how many drives a cluster needs for your load."),
    SitePage("Nines", "/nines/", "This page computes how many reads are slow in racks of drives."),
    SitePage("Fleet check", "/check/", "This page looks up a list of your own drives in the register."),
    SitePage("YCSB", "/ycsb/", "This page shows results that were measured through a database."),
    SitePage("Claims", "/ycsb/claims/", "This page checks the claims of vendors' publications about YCSB results."),
    SitePage("Impossible results", "/ycsb/impossible/", "This page lists published YCSB results that cannot be true."),
    SitePage("News", "/news/", "This page lists what changed in the register, with a summary of each month."),
    SitePage("Feed of news", "/news/feed.atom", "This feed has the news of the register for a feed reader."),
    SitePage(
        "Objections",
        "/objections/",
        "This page lists the objections to results, with their states and outcomes.",
        "dispute, complaint, appeal, wrong result",
    ),
    SitePage(
        "Status",
        "/status/",
        "This page shows whether each part of the register works, and its problems of the last 90 days.",
        "outage, downtime, uptime, incident",
    ),
    SitePage(
        "About",
        "/about/",
        "This page states who runs the register, who pays for it, and the licence of the data.",
        "funding, who pays, owner, operator, contact, sponsor, press, how to cite, citation, trust",
    ),
    SitePage("How to read these numbers", "/explain/", "This page explains the figures, columns, tiers and charts."),
    SitePage(
        "Submit",
        "/submit/",
        "You upload a log and see how the register reads it. This page needs a login.",
        "upload, log, send a log",
    ),
    SitePage(
        "Try your log",
        "/try/",
        "This page reads a log without a login, shows the verdict, and stores nothing.",
        "upload, log, check a log",
    ),
    SitePage(
        "Data",
        "/data/",
        "This page has the whole public register as files to download.",
        "download, csv, parquet",
    ),
    SitePage("API", "/api/v1/docs/", "This page explains how scripts read the register and submit results."),
    SitePage("Feed of results", "/feed.atom", "This feed has the events of all results for a feed reader."),
    SitePage("Lab", "/lab/", "Operators run tests on the register's own hosts."),
    SitePage(
        "Rules", "/explain/rules/", "This page explains the profile, the verdict, the certificate and corrections."
    ),
    SitePage("ACT and YCSB", "/explain/tools/", "This page explains what the two test programs measure."),
    SitePage(
        "Load generator",
        "/explain/generator/",
        "This page explains how drivetest makes its load, and how accurate it is.",
    ),
    SitePage(
        "Run and submit",
        "/explain/submit/",
        "This page explains how to run a test, how to submit its log, and how long review takes.",
        "review, review time, how long does review take, publish a result, publication",
    ),
    SitePage("Glossary", "/explain/glossary/", "The glossary explains the terms of the register."),
)
