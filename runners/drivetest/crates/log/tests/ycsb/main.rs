//! Real outputs of YCSB (tests/data/ycsb), read with and without their companions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

#[test]
#[ignore]
fn eyeball() {
    for case in support::java_cases() {
        let reading = case.read();
        for run in &reading.ycsb_runs {
            println!(
                "{} {:?} {:?} thr {:?}/{:?} done {:?}/{:?} fail {:?} m {:?} t {:?}",
                case.name,
                run.validity.outcome,
                run.stop.kind,
                run.threads_count,
                run.threads_ran_count,
                run.done_ops_count,
                run.operation_count,
                run.failed_ops_count,
                run.measurement,
                run.times
            );
            for f in &run.findings {
                if matches!(
                    f.id,
                    "closed-loop" | "workload-file-missing" | "percentile-of-few-samples" | "version-hidden"
                ) {
                    continue;
                }
                println!("      {:?} {} {:?} {}", f.severity, f.id, f.line, &f.sentence);
            }
        }
        if reading.ycsb_runs.is_empty() {
            println!("{} NONE {:?}", case.name, reading.error.map(|e| e.sentence));
        }
        for f in &reading.findings {
            println!("   FILE {} {:?} {}", f.id, f.line, f.sentence);
        }
    }
}
