//! The data on the drive after a preparation.

use std::io::Write;

use super::bench::{Bench, ended};

const MIB: u64 = 1 << 20;

#[test]
fn zeros_go_everywhere() {
    let Some(bench) = Bench::new(3 * MIB + 4_096) else {
        return;
    };
    std::fs::write(bench.drive(), vec![7; 3 * MIB as usize + 4_096]).unwrap();
    ended(&bench.run(&["--zero-only"]), 0, "");
    assert!(bench.content().iter().all(|byte| *byte == 0));
    assert_eq!(bench.content().len() as u64, 3 * MIB + 4_096);
}

#[test]
fn random_data_covers_the_drive_and_cannot_be_compressed() {
    let Some(bench) = Bench::new(3 * MIB + 4_096) else {
        return;
    };
    ended(&bench.run(&[]), 0, "");
    let content = bench.content();
    assert!(content.chunks(8).all(|word| word != [0; 8]));
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&content).unwrap();
    assert!(packed.finish().unwrap().len() > content.len() * 9 / 10);
}

#[test]
fn compressible_salt_has_its_share_of_zeros() {
    let Some(bench) = Bench::new(MIB) else { return };
    ended(&bench.run(&["--compress-pct", "30"]), 0, "");
    // 64 * 70 / 100 of 64 words are zeros, as in a load.
    for piece in bench.content().chunks(512) {
        assert!(
            piece[..352].iter().all(|byte| *byte == 0) && piece[352..].chunks(8).all(|word| word != [0; 8])
        );
    }
}

#[test]
fn the_same_seed_writes_the_same_data_with_any_number_of_streams() {
    let content = |options: &[&str]| {
        let bench = Bench::new(5 * MIB)?;
        ended(&bench.run(options), 0, "");
        Some(bench.content())
    };
    let Some(one) = content(&["--seed", "5", "--streams", "1"]) else {
        return;
    };
    assert!(content(&["--seed", "5", "--streams", "7"]) == Some(one.clone()));
    assert!(content(&["--seed", "6"]) != Some(one));
}

#[test]
fn the_same_seed_leaves_other_data_on_each_of_two_drives() {
    let (Some(one), Some(other)) = (Bench::new(MIB), Bench::new(MIB)) else {
        return;
    };
    ended(&one.run(&[other.drive().to_str().unwrap(), "--seed", "5"]), 0, "");
    assert!(one.content() != other.content() && other.content().chunks(8).all(|word| word != [0; 8]));
}
