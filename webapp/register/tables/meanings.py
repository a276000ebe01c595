"""The meaning of each column of the tables, which the head of the column links to."""

from dataclasses import dataclass
from functools import cache

from django.urls import reverse


@dataclass(frozen=True)
class Meaning:
    """The meaning of a column; `code` is its anchor on the page, and never changes."""

    code: str
    head: str
    text: str


SHARES = (
    "Percentage of all reads that took longer than this time. The bar shows how close the percentage is to its limit."
)
ONE_DEVICE = (
    " A published drive without a number of devices counts as one; a networked system without one has no value."
)
OF_DRIVES = (
    Meaning("drive", "Drive, System, Instance", "Maker, model and capacity, or provider and instance type."),
    Meaning("run", "Run", "Permanent id of one test run. Its page has every number, and the log if there is one."),
    Meaning("tps", "Speed", "Requested reads and writes per second, over all devices: 3,000 per device at 1x."),
    Meaning("device_tps", "One device", "Computed: speed divided by the number of devices, in whole tps." + ONE_DEVICE),
    Meaning("pct_over_256us", "Over 256 us", SHARES),
    Meaning("pct_over_512us", "Over 512 us", SHARES),
    Meaning(
        "pct_over_1ms",
        "Over 1 ms",
        SHARES + " A log in microseconds has no bucket edge at 1,000 us, so it is evaluated at 1,024 us.",
    ),
    Meaning("pct_over_8ms", "Over 8 ms", SHARES + " A log in microseconds is evaluated at 8,192 us."),
    Meaning("pct_over_64ms", "Over 64 ms", SHARES + " A log in microseconds is evaluated at 65,536 us."),
    Meaning("capacity_gb", "Capacity", "The capacity as the maker sells it: 1 TB is 1,000 GB."),
    Meaning(
        "endurance_dwpd",
        "Endurance",
        "Drive writes per day (DWPD) that the maker's warranty allows, from the data sheet. The register does"
        " not verify it.",
    ),
    Meaning("firmware", "Firmware", "Firmware of the drive during the run. A certificate is valid for one firmware."),
    Meaning("pcie_gen", "PCIe", "The PCIe generation at which the drive was tested, or for which it is made."),
    Meaning("storage", "Storage", "Number and size of the devices that the run loaded in a cloud instance."),
    Meaning(
        "notes",
        "Notes",
        "OP is over-provisioning: only a part of the drive was used. CP is the percentage to which the "
        "written data compresses. Blank means not reported.",
    ),
    Meaning("backing_device", "Device", "The drive model inside a networked system or a cloud instance."),
    Meaning("protocol", "Protocol", "The protocol by which the test reached a networked system."),
    Meaning("sole_tenant", "Sole tenant", "Whether no other customer used the machine. Blank means not reported."),
    Meaning("act_version", "ACT", "Version of the test program. Up to 5.3, read times include the wait in its queue."),
    Meaning("region", "Region", "The cloud region of the run, as its provider names it. Blank means not reported."),
    Meaning("zone", "Zone", "The zone within that region. Blank means not reported."),
    Meaning("started_at", "Started", "Date and time at which the run began, if reported."),
    Meaning("source", "Source", "Who ran a published test, or who submitted the log."),
    Meaning(
        "tier",
        "Tier",
        "How well the result is checked: published, vendor-reported, reviewed, lab-verified, with one to four"
        " bars. It links to the run.",
    ),
    Meaning(
        "sustained_tps",
        "Rating sustains",
        "Computed: the highest speed at which the drive can run day and night without exceeding its rated "
        "writes per day. At 1x, ACT writes 23.53 x 128 KiB/s, or 266 GB a day, to one device.",
    ),
    Meaning(
        "needed_dwpd",
        "Speed needs",
        "Computed: the rated writes per day that ACT's own writes require at the tested speed of one device."
        + ONE_DEVICE,
    ),
    Meaning("tps_per_tb", "Speed per TB", "Computed: speed of one device divided by its capacity."),
    Meaning(
        "verdict",
        "Verdict",
        "The result of judging the log by the profile: pass, fail, undecided or void. A published result has "
        "no log, so it has no verdict.",
    ),
)
SHARE = "Percentage of the counted reads that took longer than this time"
OF_LISTS = (
    Meaning("category", "Category", "Drives by interface and form, networked storage, or cloud instances."),
    Meaning("results", "Results", "Number of current results, without withdrawn and superseded ones."),
    Meaning(
        "fastest",
        "Fastest within the limits",
        "The highest speed of a result within the limits. Published and measured results are listed "
        "separately, because their shares are computed differently.",
    ),
    Meaning("taken", "Taken", "How its shares were computed: as published, in the worst hour, or over the whole run."),
    Meaning("choose", "Compare", "Select two to six runs to compare them."),
    Meaning("device_count", "Devices", "Number of devices that the test loaded at the same time."),
    Meaning("per_device", "Per device", "Computed: speed divided by the number of devices."),
    Meaning(
        "of_linear",
        "Of linear",
        "Computed: speed per device, compared with the result with the fewest devices. 100 % means that twice"
        " the devices gave twice the speed.",
    ),
    Meaning("repeats", "Runs", "Number of runs that this row summarizes."),
    Meaning("median", "Median", "The middle speed of these runs: half of the runs are at most this fast."),
    Meaning("least", "Least", "The smallest value of the runs in this row."),
    Meaning("greatest", "Greatest", "The largest value of the runs in this row."),
    Meaning("spread", "Spread", "Computed: largest minus smallest value, as a percentage of the median."),
    Meaning("threshold", "Over, Slower than", "A read that takes longer than this time counts as slow."),
    Meaning("limit", "Limit, Allowed", "Highest allowed percentage of slow reads. A share equal to the limit passes."),
)
OF_RUNS = (
    Meaning("nx_load", "Load", "Load per device. 1x is 2,000 reads and 1,000 writes per second of 1.5 KB each."),
    Meaning("share", "Over a time, Share", f"{SHARE}."),
    Meaning("share_worst", "Worst over a time", f"{SHARE}, in the worst slice of this device."),
    Meaning("share_whole", "Whole run", f"{SHARE}, over the whole run."),
    Meaning("share_largest", "Largest in a slice", "The largest share that this bucket has in any slice."),
    Meaning("device", "Device", "Name of the device in the log."),
    Meaning("size", "Size", "Size of the device, as the log reports it."),
    Meaning("operations", "Operations, Reads, Count", "Number of operations that were counted."),
    Meaning("slice", "Slice", "A part of the run, one hour by default. Slices are numbered from 1."),
    Meaning("span", "From-to", "Start and end of the slice, counted from the start of the run."),
    Meaning("lines", "Lines", "Lines of the log where the counts of the slice begin and end."),
    Meaning("excess", "Times its limit", "Computed: the share divided by its limit. 2 means twice the allowed share."),
    Meaning("reads_over", "Reads over", "Number of slow reads, and the number of all reads."),
    Meaning("bucket", "Took", "Range of times that a bucket of the log's histogram counts."),
    Meaning("count_end", "At the end", "Operations in the bucket from the start of the run to the end of the slice."),
    Meaning("count_start", "At the start", "Operations in the bucket before the start of the slice."),
    Meaning("count_slice", "In the slice", "Computed: the count at the end of the slice minus the count at its start."),
    Meaning("limit_read", "Limit read here", "The limit that is evaluated at the lower edge of this bucket."),
    Meaning("elapsed", "After, From, To", "Seconds since the start of the run."),
    Meaning("rate", "Least, Greatest", "The lowest and the highest rate of the minutes in this row."),
    Meaning("rate_asked", "Of the requested rate", "Computed: achieved rate as a percentage of the requested rate."),
    Meaning("telemetry", "Least, Greatest of a quantity", "Lowest and highest value in this row, from the side file."),
    Meaning("operation", "Operation", "The kind of request, such as reads."),
    Meaning("outcome", "Outcome", "Whether the counted operations succeeded, or how they failed."),
    Meaning("asked", "Requested", "Operations per second that the configuration requests."),
    Meaning("achieved", "Achieved", "Operations per second that were completed."),
    Meaning("done", "Done", "Number of completed operations."),
    Meaning("failed", "Failed", "Number of operations that ended with an error."),
    Meaning("time", "Time", "Service: from submission. Response: from when due. Lateness: the wait between the two."),
    Meaning("percentile", "p50 to p99.999", "p99: 99 % of the operations took at most this time."),
    Meaning("most", "Most", "The longest time of one operation."),
    Meaning("mean", "Mean", "The sum of all times divided by their number."),
    Meaning("mean_each", "Mean of each operation", "Mean time in this interval, as YCSB's status line prints it."),
    Meaning("histogram", "Histogram", "Name of the histogram in the log."),
    Meaning("counts", "Counts", "The operations that this histogram counts."),
    Meaning("used_as", "Used as", "How the register uses this histogram."),
)
OF_COMPARISONS = (
    Meaning("compare_column", "A, B, ...", "One run of the comparison. The row Columns names its drive and its id."),
    Meaning("compare_figure", "Results, Drives", "Each row is one measured figure, or one property of the drives."),
    Meaning("compare_condition", "Condition", "Test condition that can change the figures, such as the record size."),
    Meaning("compare_why", "Why it matters", "How the condition changes the figures."),
    Meaning("compare_chart", "Chart", "The curves of the chart to which the point belongs."),
    Meaning("compare_point", "Point", "Position of the point, in the units of the chart."),
)
OF_YCSB = (
    Meaning("workload", "Workload", "A YCSB workload, A to F: a mix of operations; or the kind of load of a run."),
    Meaning("threads", "Threads", "Number of client threads that send requests at the same time."),
    Meaning(
        "throughput", "Throughput, Rate", "Completed operations per second; under the name of a drive, on that drive."
    ),
    Meaning("each_thread", "Each thread", "Computed: throughput divided by the number of threads."),
    Meaning("latency", "Average, p99, p99.9, p99.99", "Latency of the selected operation, as its output prints it."),
    Meaning("gain", "Gain", "Computed: by how many percent the first drive is better (more throughput, less latency)."),
    Meaning("validity", "Validity", "Whether the output is from a complete run without errors."),
    Meaning("publication", "Publication", "The maker's paper that printed the figures."),
    Meaning("publication_gives", "What its figures give", "Computed from its figures, not from claims in its text."),
    Meaning("figures", "Figures", "Number of figures that the register has taken from the publication."),
    Meaning("claims", "Claims", "Number of claims that the register has taken from the publication."),
    Meaning("load", "Load", "The settings that all runs of a sweep have in common, with a code for them."),
    Meaning("binding_ycsb", "Database binding", "The client library through which YCSB used the database."),
    Meaning("claim", "Claim", "A statement of the publication."),
    Meaning("stated", "Stated", "The number in that statement."),
    Meaning("recomputed", "Its figures give", "The number, computed here from the figures of the same publication."),
    Meaning("computation", "Computed as", "The formula. The head of the table names the two drives a and b."),
    Meaning("status", "Status", "Whether the publication's own figures support the claim; no verdict on a drive."),
    Meaning("metric", "Metric", "What the publication measured, with its unit, and whether higher or lower is better."),
    Meaning("metric_value", "The name of a drive", "The value that is printed for the drive in the column head."),
    Meaning("machine", "CPU, reads, writes, await, power", "Mean values over the run, on the host of the drive."),
    Meaning("peak_metric", "Metric at the peaks", "Throughput, latency, or a value of the host, such as CPU load."),
    Meaning("peak_value", "A drive at its peak", "The value at the thread count with the drive's highest throughput."),
    Meaning("exactness", "How exact", "Printed as a number, or read from a chart, to about one significant digit."),
    Meaning("held", "Fixed at", "The drives are compared at this throughput, or at this latency."),
    Meaning("held_read", "Compared", "The quantity that is compared at this level."),
    Meaning("held_against", "Comparison", "Computed: how much lower or higher the first drive is than the second."),
    Meaning("held_there", "There", "The value at this level, interpolated between the two nearest measured points."),
    Meaning("held_how", "How", "The two measured points between which the value is interpolated."),
    Meaning("held_again", "And again at", "Further values, if the curve reaches the same level again."),
)
OF_SIZING = (
    Meaning("drives_count", "Drives", "Drives: needed (sizing), read at the same time (nines), or tested (loads)."),
    Meaning("nodes", "Nodes", "Number of servers, each with the entered number of drives. Spare servers are included."),
    Meaning("by_throughput", "By throughput", "Number of drives that reads and writes require at the tested speed."),
    Meaning("by_capacity", "By capacity", "Number of drives that all copies of the data require."),
    Meaning("by_endurance", "By endurance", "Number of drives that keeps the writes per day within the rating."),
    Meaning("binding", "Limited by", "Which of the three requirements needs the most drives."),
    Meaning(
        "needs", "Needs", "Computed: writes per day of your load on each drive, over the entered lifetime, as DWPD."
    ),
    Meaning("price", "Price of one", "Price of one drive, as you entered it. The register has no prices."),
    Meaning("price_all", "All", "Computed: price of one drive times the number of drives."),
    Meaning("step", "Step", "One step of the calculation."),
    Meaning("step_how", "How", "The formula of the step, with its numbers."),
    Meaning("step_gives", "Gives", "The result of the step."),
    Meaning("step_source", "From", "Where the formula or the number comes from."),
    Meaning("nines_of", "Of", "What the row is about: one drive, a server, a rack, or all racks."),
    Meaning("nines_step", "Step", "How the row is computed: from the row above, or for one drive from its reads."),
    Meaning("reads_per_s", "Reads", "Reads per second of all drives in this row, added up."),
    Meaning("slow_reads", "Slow reads", "Computed: how many of these reads per second are slower than the percentile."),
    Meaning("parallel_reads", "Parallel reads", "Number of reads that one request makes at the same time."),
    Meaning(
        "chance", "Meets a slow one", "Computed: chance that one or more of these reads are slower than the percentile."
    ),
)
OF_FILES = (
    Meaning("fleet_device", "Device", "Path of the device in your list."),
    Meaning("fleet_model", "Model", "Model in your list."),
    Meaning("fleet_state", "Register", "State of the drive in the register. The words are explained below the table."),
    Meaning("fleet_why", "Why", "The product and the result that were found, or the reason why none was found."),
    Meaning("dump_table", "Table", "Name of the table in the dump."),
    Meaning("dump_rows", "Rows", "Number of rows of the table."),
    Meaning("dump_file", "CSV, JSON, Parquet", "Size of the file that has the table in this format."),
)
SECTIONS = (
    ("Tables of drives", OF_DRIVES),
    ("Other lists of drives", OF_LISTS),
    ("Pages of products and runs", OF_RUNS),
    ("Comparisons", OF_COMPARISONS),
    ("YCSB", OF_YCSB),
    ("Sizing and nines", OF_SIZING),
    ("Fleet check and dumps", OF_FILES),
)
ALL = tuple(meaning for _, meanings in SECTIONS for meaning in meanings)
BY_CODE = {meaning.code: meaning for meaning in ALL}


@cache  # a page calls this twice for each column, and reverse() is slow
def meaning_address(code: str) -> str:
    """Return the address of a column's meaning; for a code without one, that of the list of all meanings."""
    return f"{reverse('explain')}#{code}" if code in BY_CODE else f"{reverse('explain')}#columns"
