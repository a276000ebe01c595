"""Plain output of the tools that list drives, in the formats that they print."""

import time

import pytest
from django.conf import settings

from webapp.register.fleet.drives import DRIVES_AT_MOST, ROWS_AT_MOST, read_drives
from webapp.register.fleet.listed_drive import FleetError
from webapp.register.fleet.tool_output import documents_of

FOLDER = settings.BASE_DIR / "tests/data/fleet"
PM983, S4510 = "SAMSUNG MZQLB1T9HAJR-00007", "INTEL SSDSC2KB960G8"
OUTPUTS = {
    "nvme-list-1": [
        ("/dev/nvme0n1", PM983, "EDA5602Q", 1920, "nvme"),
        ("/dev/nvme1n1", "Micron_9300_MTFDHAL6T4TDR", "11300DN0", 6400, "nvme"),
        ("/dev/nvme2n1", "INTEL SSDPF21Q800GB", "L0310100", 800, "nvme"),
    ],
    "nvme-list-2": [
        ("/dev/nvme0n1", "SAMSUNG MZQL23T8HCLS-00A07", "GDC5902Q", 3840, "nvme"),
        ("/dev/nvme1n1", "WDC WUS4BB038D7P3E3", "R1410004", 3840, "nvme"),
    ],
    "nvme-list-verbose": [("nvme0", "SAMSUNG MZWLJ3T8HBLS-00007", "EPK9CB5Q", None, "nvme")],
    "lsblk-default": [("sda", "", "", 960, "scsi"), ("nvme0n1", "", "", 1869, "nvme")],
    "lsblk-models": [
        ("sda", S4510, "0132", 960, "scsi"), ("nvme0n1", PM983, "EDA5602Q", 1869, "nvme"),
        ("nvme1n1", "EX4", "", 3189, "nvme"),
    ],
    "lsblk-flat": [("sda", S4510, "", 960, "scsi"), ("nvme0n1", PM983, "", 1920, "nvme")],
    "lsblk-scsi": [("sda", S4510, "0132", None, "scsi"), ("sdb", "XS3840SE70084", "0003", None, "scsi")],
    "lsblk-nvme": [
        ("nvme0n1", PM983, "EDA5602Q", None, "nvme"),
        ("nvme1n1", "Micron_9300_MTFDHAL6T4TDR", "11300DN0", None, "nvme"),
    ],
    "lsblk-pairs": [("sda", S4510, "", 960, "scsi"), ("nvme0n1", PM983, "", 1869, "nvme")],
    "lsblk-raw": [("sda", S4510, "", 960, "scsi"), ("nvme0n1", PM983, "", 1869, "nvme")],
    "smartctl-nvme": [("/dev/nvme0", PM983, "EDA5602Q", 1920, "nvme")],
    "smartctl-sata-and-sas": [("", S4510, "XCV10132", 960, "scsi"), ("", "XS3840SE70084", "0003", 3841, "scsi")],
    "smartctl-scan": [("/dev/sda", "", "", None, "scsi"), ("/dev/nvme0", "", "", None, "nvme")],
    "lshw-disk": [("/dev/nvme0n1", "", "", 1920, "nvme"), ("/dev/sda", "INTEL SSDSC2KB96", "0132", 960, "scsi")],
    "lshw-storage": [("/dev/nvme0n1", PM983, "EDA5602Q", 1920, "nvme")],
    "lshw-short": [("/dev/nvme0n1", PM983, "", 1920, "nvme"), ("/dev/sda", "INTEL SSDSC2KB96", "", 960, "scsi")],
}  # fmt: skip


def text_of(name):
    return (FOLDER / f"{name}.txt").read_text()


def drives_of(text):
    return [
        (each.device, each.model, each.firmware, each.capacity_gb and round(each.capacity_gb), each.interface)
        for each in read_drives(text)
    ]


def answer_to(text):
    """Return the number of drives, or the error message."""
    try:
        return f"{len(read_drives(text))} drives"
    except FleetError as error:
        return str(error)


def test_every_output_is_tested():
    assert {path.stem for path in FOLDER.iterdir()} == set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_output_of_a_tool_is_read(name):
    assert drives_of(text_of(name)) == OUTPUTS[name]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_with_the_line_ends_of_windows_is_read(name):
    assert drives_of(text_of(name).replace("\n", "\r\n")) == OUTPUTS[name]


@pytest.mark.parametrize("has_dashes", [True, False])
@pytest.mark.parametrize("name", ["nvme-list-1", "nvme-list-2"])
def test_a_table_of_nvme_list_is_read_without_its_alignment(name, has_dashes):
    lines = [" ".join(line.split()) for line in text_of(name).splitlines()]
    kept = [line for line in lines if has_dashes or not line.startswith("--")]
    assert drives_of("\n".join(kept)) == OUTPUTS[name]


def test_outputs_of_several_tools_and_hosts_follow_each_other():
    names = ["nvme-list-1", "smartctl-nvme", "lsblk-models", "lshw-disk", "nvme-list-2"]
    assert drives_of("\n".join(map(text_of, names))) == [drive for name in names for drive in OUTPUTS[name]]


def test_serial_numbers_are_never_read():
    for name in OUTPUTS:
        for drive in read_drives(text_of(name)):
            read = " ".join((drive.device, drive.model, drive.firmware, drive.vendor))
            assert not any(serial in read for serial in ("S000", "PHYF", "PHAB", "HLJ0", "0000000"))


def test_a_tree_without_a_column_of_types_lists_no_partition():
    text = "NAME        SIZE MODEL\nnvme0n1     1.7T EX4\n├─nvme0n1p1   1G \n└─nvme0n1p2 1.7T \n"
    assert [drive[:2] for drive in drives_of(text)] == [("nvme0n1", "EX4")]


@pytest.mark.parametrize("size", ["1.7T", "894.3G", "  10G"])
def test_a_model_with_blanks_stays_whole_next_to_a_size(size):
    head = f"NAME    MODEL {' ' * 14}{'SIZE':>{len(size)}}"
    row = f"nvme0n1 INTEL SSD PE2 KE016 {size:>{len(size)}}"
    assert [drive.model for drive in read_drives(f"{head}\n{row}")] == ["INTEL SSD PE2 KE016"]


def test_the_device_of_smartctl_is_that_of_the_command_before_it():
    facts = text_of("smartctl-sata-and-sas").split("\n\n")
    text = f"/dev/sda:\n{facts[1]}\n\n[root@db7 ~]# smartctl -i /dev/sdb\n{facts[3]}"
    assert [drive[0] for drive in drives_of(text)] == ["/dev/sda", "/dev/sdb"]


@pytest.mark.parametrize("capacity", ["960,197,124,096", "960.197.124.096", "960 197 124 096", "960197124096"])
def test_a_capacity_is_read_with_any_separator(capacity):
    text = f"Device Model:     X9\nUser Capacity:    {capacity} bytes [960 GB]\n"
    assert drives_of(text) == [("", "X9", "", 960, "scsi")]


@pytest.mark.parametrize(
    "text", ["model,size\nEX4,3.2 TB\n", "MODEL\nEX4\n", "Model;FW\nEX4;1\n", "name\tmodel\n/dev/sda\tEX4\n"]
)
def test_a_table_of_separated_values_is_not_taken_for_the_output_of_a_tool(text):
    assert list(documents_of(text)) == []
    assert [drive.model for drive in read_drives(text)] == ["EX4"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_cut_anywhere_gets_an_answer(name):
    text = text_of(name)
    for end in range(0, len(text), 37):
        assert answer_to(text[:end])[-1] in ".s"


@pytest.mark.parametrize(
    "text",
    [
        "NAME MODEL\n" + "sda  X\n" * (DRIVES_AT_MOST + 1),
        "/dev/sda -d scsi\n" * (DRIVES_AT_MOST + 1),
        'NAME="sda" MODEL="X"\n' * (DRIVES_AT_MOST + 1),
        "Device Model: X\n" * (DRIVES_AT_MOST + 1),
    ],
)
def test_a_list_of_too_many_drives_is_refused(text):
    with pytest.raises(FleetError, match="More than 5,000 drives"):
        read_drives(text)


HOSTILE = {
    "rows without a drive": "NAME TYPE\n" + "x    loop\n" * (ROWS_AT_MOST + 1),
    "prompts": "a@" * 2_000_000,
    "short prompts": "NAME TYPE\n" + ("a@" * 400 + "\n") * 4_000,
    "devices": " /dev/" * 600_000,
    "lines of devices": (" /dev/a" * 120 + "\n") * 4_000,
    "wide head": "NAME" + " " * 900 + "TYPE\n" + "a b\n" * 100_000,
    "nodes": "*-volume\n" * 400_000,
    "facts": "Aa: " * 1_000_000,
    "capitals": ("A B " * 200 + "\n") * 4_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_answered_in_seconds(text):
    begun = time.process_time()
    assert len(answer_to(text)) < 300
    assert time.process_time() - begun < 10


def test_a_paste_that_begins_with_a_prompt_in_brackets_is_no_json():
    assert drives_of(f"[root@db7 ~]$ nvme list\n{text_of('nvme-list-1')}") == OUTPUTS["nvme-list-1"]


@pytest.mark.parametrize("name", ["nvme-list-1", "nvme-list-2"])
def test_rows_of_nvme_list_need_no_header(name):
    rows = "\n".join(line for line in text_of(name).splitlines() if line.startswith("/dev/nvme"))
    assert drives_of(rows) == OUTPUTS[name]


def test_a_row_without_a_header_and_a_serial_number_is_refused():
    row = next(line for line in text_of("nvme-list-1").splitlines() if line.startswith("/dev/nvme0n1"))
    blank = row[:17] + " " * 20 + row[37:]
    with pytest.raises(FleetError, match="include the header line of nvme list"):
        read_drives(blank)
