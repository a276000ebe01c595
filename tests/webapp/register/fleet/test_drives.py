"""Lists of drives as tools print them: every format is read, and other input gets an error message."""

import json
import time

import pytest

from webapp.register.fleet.drives import CELL_AT_MOST, DRIVES_AT_MOST, ROWS_AT_MOST, read_drives
from webapp.register.fleet.listed_drive import FleetError, size_gb

NVME = {
    "Devices": [
        {
            "NameSpace": 1, "DevicePath": "/dev/nvme0n1", "Firmware": "GDC7302Q", "Index": 0,
            "ModelNumber": "SAMSUNG MZQL21T9HCJR-00A07", "ProductName": "", "SerialNumber": "S64GNE0R",
            "UsedBytes": 1, "MaximumLBA": 3750748848, "PhysicalSize": 1920383410176, "SectorSize": 512,
        }
    ]
}  # fmt: skip
NVME_VERBOSE = {
    "Devices": [
        {
            "HostNQN": "nqn.2014-08.org.nvmexpress:uuid:x",
            "Subsystems": [
                {
                    "Subsystem": "nvme-subsys0",
                    "Controllers": [
                        {
                            "Controller": "nvme0", "SerialNumber": "S", "ModelNumber": "INTEL SSDPE2KE016T8",
                            "Firmware": "VDV10131", "Transport": "pcie",
                            "Namespaces": [{"NameSpace": "nvme0n1", "PhysicalSize": 1600321314816}],
                        }
                    ],
                    "Namespaces": [],
                }
            ],
        }
    ]
}  # fmt: skip
LSBLK = {
    "blockdevices": [
        {"name": "loop0", "path": "/dev/loop0", "type": "loop", "size": "55.4M", "model": None, "rev": None},
        {
            "name": "sda", "path": "/dev/sda", "type": "disk", "size": "894.3G", "model": "INTEL SSDSC2KB960G8",
            "rev": "0132", "vendor": "ATA     ", "serial": "X",
            "children": [{"name": "sda1", "type": "part", "size": "1G", "model": None}],
        },
        {"name": "nvme1n1", "path": "/dev/nvme1n1", "type": "disk", "size": 3200631791616, "model": "EX4", "rev": None},
    ]
}  # fmt: skip
SMARTCTL = {
    "smartctl": {"version": [7, 3]},
    "device": {"name": "/dev/nvme2", "type": "nvme"},
    "model_name": "Micron_9300_MTFDHAL3T2TDR",
    "serial_number": "1",
    "firmware_version": "11300DN0",
    "user_capacity": {"blocks": 1, "bytes": 3200631791616},
}


def drives_of(text):
    return [
        (each.device, each.model, each.firmware, each.capacity_gb and round(each.capacity_gb))
        for each in read_drives(text)
    ]


def test_nvme_list_is_read():
    assert drives_of(json.dumps(NVME)) == [("/dev/nvme0n1", "SAMSUNG MZQL21T9HCJR-00A07", "GDC7302Q", 1920)]


def test_the_nested_form_of_nvme_list_is_read():
    assert drives_of(json.dumps(NVME_VERBOSE)) == [("nvme0", "INTEL SSDPE2KE016T8", "VDV10131", 1600)]


def test_lsblk_is_read_without_its_partitions():
    assert drives_of(json.dumps(LSBLK)) == [
        ("/dev/sda", "INTEL SSDSC2KB960G8", "0132", 960), ("/dev/nvme1n1", "EX4", "", 3201),
    ]  # fmt: skip
    rounded = [each.capacity_is_rounded for each in read_drives(json.dumps(LSBLK))]
    assert rounded == [True, False]


NO_MODELS = {
    "blockdevices": [
        {"name": "loop0", "path": "/dev/loop0", "type": "loop", "size": "55.4M", "model": None},
        {"name": "zram0", "path": "/dev/zram0", "type": "disk", "size": "2G", "model": None},
        {"name": "vda", "path": "/dev/vda", "type": "disk", "size": 256060514304, "model": None, "vendor": "0x1af4"},
    ]
}


def test_a_disk_without_a_model_is_a_drive_and_a_memory_device_is_not():
    assert drives_of(json.dumps(NO_MODELS)) == [("/dev/vda", "", "", 256)]


def test_a_list_of_virtual_devices_reports_which_were_left_out_and_why():
    loops = [{"name": f"loop{number}", "type": "loop"} for number in range(3)]
    with pytest.raises(FleetError) as refused:
        read_drives(json.dumps({"blockdevices": NO_MODELS["blockdevices"][:2]}))
    assert str(refused.value) == (
        "The list has no drives: skipped '/dev/loop0' (loop), '/dev/zram0' (zram), which are not drives; "
        "expected devices of type disk."
    )
    with pytest.raises(FleetError, match=r"'loop1' \(loop\) and 1 more, which are not drives"):
        read_drives(json.dumps({"blockdevices": NO_MODELS["blockdevices"][:2] + loops}))


@pytest.mark.parametrize("joined", ["[{0},{0}]", "{0}\n{0}\n", "{0}{0}", " [ {0} , {0} ] "])
def test_smartctl_output_is_read_alone_in_an_array_and_concatenated(joined):
    text = joined.replace("{0}", json.dumps(SMARTCTL))
    assert drives_of(text) == [("/dev/nvme2", "Micron_9300_MTFDHAL3T2TDR", "11300DN0", 3201)] * 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_is_read_with_any_separator(delimiter):
    lines = (["Device", "Model", "FW", "Capacity_GB"], ["/dev/sdb", "PM983", "EDA5", "1920"], ["", "", "", ""])
    text = "\ufeff" + "\r\n".join(delimiter.join(line) for line in lines)
    assert drives_of(text) == [("/dev/sdb", "PM983", "EDA5", 1920)]


def test_plain_objects_with_a_model_are_read():
    assert drives_of('[{"Model": "PM983", "size": "1.92 TB"}]') == [("", "PM983", "", 1920)]


@pytest.mark.parametrize(
    ("printed", "gigabytes"),
    [
        ("1.8T", 1979),
        ("894.3G", 960),
        ("1.92 TB", 1920),
        ("960GB", 960),
        (960197124096, 960),
        ("3.5TiB", 3848),
        ("960", 960),
    ],
)
def test_sizes_are_read_in_the_units_of_their_tool(printed, gigabytes):
    assert round(size_gb(printed, bare_is_gb=True)[0]) == gigabytes


@pytest.mark.parametrize("printed", [None, "", "big", True, "-5G", "0", [], {}, "9" * 400, "1e9"])
def test_an_invalid_size_is_not_guessed(printed):
    assert size_gb(printed) == (None, False)


HOSTILE = {
    "nothing": " \n ",
    "prose": "hello, these are my drives",
    "cut": '{"Devices": [',
    "deep": "[" * 200_000,
    "deep objects": '{"a":' * 50_000,
    "long number": '{"Devices": [{"ModelNumber": "x", "PhysicalSize": ' + "9" * 5_000 + "}]}",
    "no drives": '{"Devices": []}',
    "other JSON": '{"blockdevices": {"name": "sda"}}',
    "numbers": "[1, 2, 3]",
    "nulls": '{"Devices": null}',
    "no column": "serial,owner\n1,me\n",
    "cell of 200 kB": "model\n" + '"' + "x" * 200_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_input_that_is_not_a_list_gets_an_error_message(text):
    with pytest.raises(FleetError) as refused:
        read_drives(text)
    assert str(refused.value).endswith((".", "?"))
    assert len(str(refused.value)) < 300


def test_a_cell_that_is_too_long_is_reported_with_line_column_and_limit():
    long = "x" * CELL_AT_MOST
    assert len(read_drives(f'firmware,model\n"1\n2",PM983\n3,{long}')) == 2
    with pytest.raises(FleetError) as refused:
        read_drives(f'firmware,model\n"1\n2",PM983\n3,{long}x')
    assert str(refused.value) == (
        "Line 4, column 2 (model) has 100,001 characters: expected at most 100,000; check for an unclosed quote."
    )


def test_an_invalid_csv_line_is_named():
    with pytest.raises(FleetError, match="Line 2 is not valid CSV"):
        read_drives("model,firmware\nPM983\r,1")


def test_a_list_at_the_limit_is_read_and_one_more_row_is_refused():
    lines = "model\n" + "PM983\n" * DRIVES_AT_MOST
    assert len(read_drives(lines)) == DRIVES_AT_MOST
    with pytest.raises(FleetError, match="More than 5,000 drives"):
        read_drives(lines + "PM983\n")


EMPTY_ROWS = {
    "CSV": "model,serial\n" + ",x\n" * (ROWS_AT_MOST + 1),
    "empty lines": "model\n" + "\n" * (ROWS_AT_MOST + 1) + "x",
    "objects": "[" + ",".join(["{}"] * (ROWS_AT_MOST + 1)) + "]",
    "one after another": "{}" * (ROWS_AT_MOST + 1),
    "no objects": "{}" + "1 " * (ROWS_AT_MOST + 1),
    "smartctl": '{"smartctl":1}' * (ROWS_AT_MOST + 1),
    "lsblk": json.dumps({"blockdevices": [{"type": "loop"}] * (ROWS_AT_MOST + 1)}),
    "subsystems": json.dumps({"Devices": [{"Subsystems": [{}] * (ROWS_AT_MOST + 1)}]}),
    "devices of nothing": json.dumps({"Devices": [{"Subsystems": []}] * (ROWS_AT_MOST + 1)}),
}


@pytest.mark.parametrize("text", EMPTY_ROWS.values(), ids=EMPTY_ROWS)
def test_rows_without_a_drive_count_towards_the_limit(text):
    with pytest.raises(FleetError, match=r"More than 20,000 rows\. Split the list and check the parts\."):
        read_drives(text)


@pytest.mark.parametrize(("own", "of_all", "gigabytes"), [(0, 1, 1600), (1, 0, 1600), (1, 1, None), (0, 2, None)])
def test_a_controller_has_the_size_of_its_only_namespace(own, of_all, gigabytes):
    space = {"PhysicalSize": 1600321314816}
    controller = {"Controller": "nvme0", "ModelNumber": "x", "Namespaces": [space] * own}
    subsystem = {"Controllers": [controller], "Namespaces": [space] * of_all}
    assert drives_of(json.dumps({"Devices": [{"Subsystems": [subsystem]}]})) == [("nvme0", "x", "", gigabytes)]


def test_a_subsystem_of_many_controllers_and_namespaces_is_read_in_seconds():
    controllers = ",".join(['{"ModelNumber":"x"}'] * DRIVES_AT_MOST)
    spaces = ",".join(["{}"] * 650_000)
    text = f'{{"Devices":[{{"Subsystems":[{{"Controllers":[{controllers}],"Namespaces":[{spaces}]}}]}}]}}'
    begun = time.process_time()
    assert len(read_drives(text)) == DRIVES_AT_MOST
    assert time.process_time() - begun < 10


def test_a_table_of_very_many_columns_is_read_in_seconds():
    begun = time.process_time()
    assert len(read_drives("model" + ",b" * 200_000 + "\n" + "x\n" * DRIVES_AT_MOST)) == DRIVES_AT_MOST
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("value", ["x" * 10_000, "a\u202eb", "<script>", None, 5, ["x"], "two\nlines"])
def test_any_cell_becomes_one_short_line(value):
    for drive in read_drives(json.dumps({"Devices": [{"ModelNumber": value, "Firmware": value, "DevicePath": value}]})):
        assert all(len(text) <= 200 and "\n" not in text for text in (drive.model, drive.firmware, drive.device))


def test_lines_that_are_only_names_of_models_are_read_as_drives():
    found = read_drives("Samsung 990 Pro\n\n  Micron  9400 MAX 12.8TB\nMZ7L33T8HBLT-00A07\n")
    assert [(drive.device, drive.model) for drive in found] == [
        ("", "Samsung 990 Pro"),
        ("", "Micron 9400 MAX 12.8TB"),
        ("", "MZ7L33T8HBLT-00A07"),
    ]


@pytest.mark.parametrize("text", ["Samsung 990 Pro\nno drive here", "Samsung 990 Pro, 2 TB", "db7: 990"])
def test_other_lines_are_not_read_as_names_of_models(text):
    with pytest.raises(FleetError, match="without a column named model"):
        read_drives(text)
