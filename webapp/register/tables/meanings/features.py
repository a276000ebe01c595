"""The meanings of columns of products, runs, YCSB, comparisons, sizing, fleet checks and dumps."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """The meaning of a column; `code` is its anchor on the page, and never changes."""

    code: str
    head: str
    text: str


SHARE = "of the reads counted, the percentage that took longer"
OF_LISTS = (
    Meaning("category", "Category", "the kind of storage: by interface and form, networked, or an instance of a cloud"),
    Meaning("results", "Results", "how many results the register holds that are neither withdrawn nor superseded"),
    Meaning(
        "fastest",
        "Fastest within the limits",
        "the highest speed of a result within the limits, for each statistic, because statistics do not compare",
    ),
    Meaning(
        "taken", "Taken", "how the shares of that result were measured: as published, in the worst hour, or overall"
    ),
    Meaning("choose", "Compare", "select two to six runs to compare them"),
    Meaning("device_count", "Devices", "how many devices were loaded together"),
    Meaning("per_device", "Per device", "computed: speed divided by the number of devices"),
    Meaning(
        "of_linear",
        "Of linear",
        "computed: the speed per device compared with that of the result with the fewest devices; 100 % is linear",
    ),
    Meaning("repeats", "Runs", "the number of runs in the line"),
    Meaning("median", "Median", "of the speeds of these runs: half are at most this"),
    Meaning("least", "Least", "the smallest value"),
    Meaning("greatest", "Greatest", "the largest value"),
    Meaning("spread", "Spread", "computed: greatest less least, as a percentage of the median"),
    Meaning("threshold", "Over, Slower than", "the time that a read must take longer than to count as slow"),
    Meaning("limit", "Limit, Allowed", "the percentage of reads that may be slow; a share equal to it passes"),
)
OF_RUNS = (
    Meaning("nx_load", "Load", "of each device: 1x is 2,000 reads and 1,000 writes a second of 1.5 KB"),
    Meaning("share", "Over a time, Share", SHARE),
    Meaning("share_worst", "Worst over a time", f"{SHARE}, in the slice where this device was worst"),
    Meaning("share_whole", "Whole run", f"{SHARE}, from the first report of the log to the last"),
    Meaning("share_largest", "Largest in a slice", "the largest share that the bucket has in any slice"),
    Meaning("device", "Device", "as the log names it"),
    Meaning("size", "Size", "of the device, as the log reports it"),
    Meaning("operations", "Operations, Reads, Count", "how many were counted"),
    Meaning("slice", "Slice", "a part of the run, by default one hour; counted from 1"),
    Meaning("span", "From-to", "start and end of the slice, from the start of the run"),
    Meaning("lines", "Lines", "of the log, where the counts of the slice begin and end"),
    Meaning("excess", "Times its limit", "computed: the share over its limit"),
    Meaning("reads_over", "Reads over", "how many reads took longer, of how many"),
    Meaning("bucket", "Took", "the times that a bucket of the log's histogram counts"),
    Meaning("count_end", "At the end", "what the last report of the slice counts, from the beginning of the run"),
    Meaning("count_start", "At the start", "the same of the report before the slice"),
    Meaning("count_slice", "In the slice", "computed: the count at its end less that at its start"),
    Meaning("limit_read", "Limit read here", "the limit whose share is read at the lower edge of the bucket"),
    Meaning("elapsed", "After, From, To", "seconds since the start of the run"),
    Meaning("rate", "Least, Greatest", "the lowest and the highest rate of the minutes in the line"),
    Meaning(
        "rate_asked", "Of the requested rate", "computed: the rate as a percentage of the requested reads per second"
    ),
    Meaning("telemetry", "Least, Greatest of a quantity", "over the intervals of the side file in the line"),
    Meaning("operation", "Operation", "the kind of request"),
    Meaning("outcome", "Outcome", "how the counted operations ended"),
    Meaning("asked", "Requested", "operations per second that the configuration requests"),
    Meaning("achieved", "Achieved", "operations per second that were completed"),
    Meaning("done", "Done", "how many were completed"),
    Meaning("failed", "Failed", "how many ended in an error"),
    Meaning(
        "time",
        "Time",
        "service: from when a request was submitted; response: from when it was due; lateness: the difference",
    ),
    Meaning("percentile", "p50 to p99.999", "the time that this percentage of operations took at most"),
    Meaning("most", "Most", "the longest time"),
    Meaning("mean", "Mean", "sum of the times over their number"),
    Meaning("mean_each", "Mean of each operation", "in this interval, as the status line prints it"),
    Meaning("histogram", "Histogram", "as the log names it"),
    Meaning("counts", "Counts", "what the histogram counts"),
    Meaning("used_as", "Used as", "what the register uses the histogram for"),
)
OF_COMPARISONS = (
    Meaning("compare_column", "A, B, ...", "one run of the comparison; the line Columns names its drive and its id"),
    Meaning("compare_figure", "Results, Drives", "one figure, or one property of the drives, per row"),
    Meaning("compare_condition", "Condition", "a test condition that can change the figures of any drive"),
    Meaning("compare_why", "Why it matters", "what the condition changes"),
    Meaning("compare_chart", "Chart", "the curves that the point belongs to"),
    Meaning("compare_point", "Point", "its position, in the units of the chart"),
)
OF_YCSB = (
    Meaning("workload", "Workload", "a mix of operations of YCSB, A to F, or the kind of load of a run"),
    Meaning("threads", "Threads", "number of client threads that send requests at the same time"),
    Meaning("throughput", "Throughput, Rate", "operations per second; in the column of a drive, on that drive"),
    Meaning("each_thread", "Each thread", "computed: throughput divided by threads"),
    Meaning("latency", "Average, p99, p99.9, p99.99", "of the operation chosen, as its output prints it"),
    Meaning("gain", "Gain", "computed: by how many percent the first is better, in the direction that is better"),
    Meaning("validity", "Validity", "whether the output is of a whole and sound run"),
    Meaning("publication", "Publication", "the maker's paper that printed the figures"),
    Meaning(
        "publication_gives", "What its figures give", "computed from the figures only, not from the claims in the text"
    ),
    Meaning("figures", "Figures", "how many of its figures the register holds"),
    Meaning("claims", "Claims", "how many of its sentences the register holds"),
    Meaning("load", "Load", "what all runs of a sweep have in common, with its code"),
    Meaning("binding_ycsb", "Database binding", "the client library that YCSB drove the database with"),
    Meaning("claim", "Claim", "the statement of the publication"),
    Meaning("stated", "Stated", "the number in that sentence"),
    Meaning("recomputed", "Its figures give", "the same, computed from the figures of the same publication"),
    Meaning("computation", "Computed as", "the formula, over the two drives named in the head"),
    Meaning("status", "Status", "whether the sentence follows from the figures; no verdict on a drive"),
    Meaning("metric", "Metric", "what the publication measured, with its unit and which direction is better"),
    Meaning("metric_value", "The name of a drive", "what the publication prints for that drive"),
    Meaning("machine", "CPU, reads, writes, await, power", "of the host with the drive: the mean over the run's time"),
    Meaning("peak_metric", "Metric at the peaks", "throughput, a latency, or a measurement of the host with the drive"),
    Meaning("peak_value", "A drive at its peak", "its value at the thread count of its highest throughput"),
    Meaning("exactness", "How exact", "printed as a number, or read off a figure: good to about one digit"),
    Meaning("held", "Fixed at", "the throughput, or the latency, at which the drives are compared"),
    Meaning("held_read", "Compared", "the quantity that is compared there"),
    Meaning("held_against", "Comparison", "computed: the first drive's value compared with the second's"),
    Meaning("held_there", "There", "the value at the fixed level, interpolated between the two nearest points"),
    Meaning("held_how", "How", "the two points that it is interpolated from"),
    Meaning("held_again", "And again at", "further values, if the curve returns to the same level"),
)
OF_SIZING = (
    Meaning(
        "drives_count",
        "Drives",
        "number of drives: needed in all (sizing), reading in parallel (nines), or tested (loads)",
    ),
    Meaning("nodes", "Nodes", "servers, with the entered number of drives in each, spare ones included"),
    Meaning("by_throughput", "By throughput", "drives that the reads and writes need at the tested speed"),
    Meaning("by_capacity", "By capacity", "drives that the stored copies need"),
    Meaning("by_endurance", "By endurance", "drives needed so that the writes of a day stay within the rating"),
    Meaning("binding", "Limited by", "which of the three needs the most drives"),
    Meaning("needs", "Needs", "computed: drive writes per day of the load on each drive over the entered lifetime"),
    Meaning("price", "Price of one", "as entered; the register has no prices"),
    Meaning("price_all", "All", "computed: price of one, for all drives"),
    Meaning("step", "Step", "one step of the calculation"),
    Meaning("step_how", "How", "its formula with the numbers"),
    Meaning("step_gives", "Gives", "its result"),
    Meaning("step_source", "From", "where the formula or the number is from"),
    Meaning("nines_of", "Of", "a drive, a server, a rack, all of them"),
    Meaning("nines_step", "Step", "one step of the number of drives"),
    Meaning("reads_per_s", "Reads", "a second, of all drives of the line together"),
    Meaning("slow_reads", "Slow reads", "computed: how many of these are slower than the percentile, a second"),
    Meaning("parallel_reads", "Parallel reads", "how many reads one request makes at once"),
    Meaning("chance", "Meets a slow one", "computed: how likely at least one of them is slower than the percentile"),
)
OF_FILES = (
    Meaning("fleet_device", "Device", "the path, as your list has it"),
    Meaning("fleet_model", "Model", "as your list has it"),
    Meaning(
        "fleet_state", "Register", "what the register knows about the drive; the words are explained below the table"
    ),
    Meaning("fleet_why", "Why", "what was found, and where"),
    Meaning("dump_table", "Table", "of the dump"),
    Meaning("dump_rows", "Rows", "how many it has"),
    Meaning("dump_file", "CSV, JSON, Parquet", "the size of the file that holds the table in this form"),
)
