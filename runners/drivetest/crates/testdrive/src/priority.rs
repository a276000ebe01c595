//! Real-time priority, so that an answer is sent when it is due however busy the processors are.

use std::num::NonZeroU64;

/// In the middle of the range: above every ordinary thread, below what the kernel needs itself.
const PRIORITY: i32 = 50;

/// Raises the calling thread, and the threads it will start; without the right to it everything works, but later.
pub fn raise() -> bool {
    let parameter = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the pointer is to a local that outlives the call, and 0 names the calling thread.
    let raised = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) } == 0;
    // Without this an ordinary thread is woken up to 50 us late, on purpose.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    raised
}
