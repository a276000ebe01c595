//! Offsets of the requests, as the drive received them.

use drivetest_fault_drive::ground_truth::OperationTruth;

use drivetest_fault_drive::Operation;

use crate::loaded::Loaded;

/// Checks that each 64th of the drive gets its share, within five standard deviations of a binomial count.
fn assert_spread(printed: &OperationTruth, what: &str) {
    let expected = printed.arrived_count as f64 / printed.regions.len() as f64;
    let most_off = 5.0 * expected.sqrt();
    let is_fair = |count: &u64| (*count as f64 - expected).abs() <= most_off;
    assert!(
        expected >= 25.0 && printed.regions.iter().all(is_fair),
        "{what}: {:?}",
        printed.regions
    );
}

#[test]
fn records_and_large_blocks_are_spread_over_the_whole_drive() {
    let Some(loaded) = Loaded::file() else { return };
    loaded.drive.limit_to_length(Operation::Write, 131_072);
    loaded.run("test-duration-sec: 4\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 20000\n");
    let truth = loaded.drive.ground_truth();
    assert_spread(&truth.read, "reads");
    assert_spread(&truth.write, "large-block writes");
}
