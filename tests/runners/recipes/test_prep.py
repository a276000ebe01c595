from runners.models import Device, Dispatch
from runners.recipes import prep
from runners.recipes.act import INDEX


def make(**options):
    device = Device(path="/dev/nvme0n1", size_bytes=64 * 1024 * 1024)
    return Dispatch(device=device, drive_key="nvme:X:1", nx_load=2, duration_s=60, options=options)


def test_a_drive_is_prepared_whole_and_only_the_one_that_was_bound():
    (stage,) = prep.stages(make())
    outputs = "--log log --side-file side.jsonl --state prep.state"
    assert " ".join(stage.argv) == f"prep /dev/nvme0n1 {outputs} --expect-drive nvme:X:1"
    assert not stage.files


def test_recognised_data_is_overwritten_only_with_consent():
    assert "--i-know-this-destroys-data" not in prep.stages(make())[0].argv
    assert "--i-know-this-destroys-data" in prep.stages(make(i_know_this_destroys_data=True))[0].argv


def test_an_index_load_is_sent_in_the_keys_of_act():
    (stage,) = INDEX.stages(make(report_interval_s=5))
    assert stage.argv[:2] == ("index", "config")
    assert stage.files["config"].decode() == (
        "device-names: /dev/nvme0n1\ntest-duration-sec: 60\nreport-interval-sec: 5\nmicrosecond-histograms: yes\n"
        "read-reqs-per-sec: 4000\nwrite-reqs-per-sec: 2000\n"
    )
