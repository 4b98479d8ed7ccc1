//! Runs tests on several threads and hands the results on in the order of the list.
//!
//! A thread that waits for the cases of a split file works on them itself, and threads without a
//! test help; a waiting thread never starts another test, so stacks and times stay its own.
//! In-process programs can't be killed: a test that overruns its time is reported and its thread
//! left behind, with a new one in its place.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::discovery::Test;
use super::interrupt;
use super::result::{ResultCode, TestResult};
use super::runner::{Progress, RunSettings, run_test, timeout_line};
use super::toolbox::{CasePool, run_isolated};
use crate::tool::{Invocation, Output, Tool};

/// How long a test may outlive its time limit to report by itself before its thread is given up.
const TIMEOUT_GRACE: Duration = Duration::from_millis(500);

/// How long tests may go on after Ctrl-C. Processes are ended at once, programs in this process can't be.
const INTERRUPT_GRACE: Duration = Duration::from_millis(1000);

/// How many tests must be left for results to be taken in batches, and how long a batch is waited for.
const MANY: usize = 64;
const BATCH: Duration = Duration::from_micros(500);

/// Stack of a worker: that of a main thread, as programs expect one.
const WORKER_STACK: usize = 8 << 20;

/// What the run may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of threads.
    pub workers: usize,
    /// Stop after that many failures.
    pub max_failures: Option<usize>,
    /// Stop after that time.
    pub max_time: Option<Duration>,
    /// Tell about tests that run for that long, and again each time it has passed.
    pub heartbeat: Option<Duration>,
}

/// Why a run ended before its list did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// `--max-failures`
    MaxFailures,
    /// `--max-time`
    MaxTime,
    /// Ctrl-C
    Interrupted,
}

/// Something that happened.
pub enum Event<'e> {
    /// The next test in the list has its result.
    Finished {
        /// Its place in the list.
        index: usize,
        /// The test.
        test: &'e Test,
        /// The result.
        result: &'e TestResult,
    },
    /// A test has been running for long.
    Stalled {
        /// The test.
        test: &'e Test,
        /// For how long.
        elapsed: Duration,
        /// The RUN line it is at.
        line: u32,
    },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Panics are caught before they reach code that holds a lock; data under one stays sound.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parts of one split call.
struct Batch {
    tool: Arc<dyn Tool>,
    parts: Vec<Invocation>,
    next: AtomicUsize,
    outputs: Mutex<(usize, Vec<Option<Output>>)>,
    done: Condvar,
}

impl Batch {
    /// Runs the next part; false if none is left to take.
    fn run_next(&self) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(part) = self.parts.get(index) else { return false };
        let output = run_isolated(self.tool.as_ref(), part);
        let mut outputs = lock(&self.outputs);
        outputs.0 += 1;
        outputs.1[index] = Some(output);
        if outputs.0 == self.parts.len() {
            self.done.notify_all();
        }
        true
    }

    fn exhausted(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.parts.len()
    }
}

#[derive(Default)]
struct Queue {
    tests: VecDeque<usize>,
    batches: VecDeque<Arc<Batch>>,
    /// Running tests per parallelism group.
    groups: BTreeMap<String, usize>,
    closed: bool,
}

struct Shared {
    tests: Vec<Test>,
    settings: Arc<RunSettings>,
    queue: Mutex<Queue>,
    work: Condvar,
    begun: Instant,
}

/// What a worker is doing.
struct Slot {
    running: Mutex<Option<(usize, Instant)>>,
    progress: Progress,
    abandoned: AtomicBool,
    number: usize,
}

enum Job {
    Test(usize),
    Case(Arc<Batch>),
}

impl Shared {
    /// Waits for something to do; `None` when the run is over.
    fn next_job(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            while queue.batches.front().is_some_and(|batch| batch.exhausted()) {
                queue.batches.pop_front();
            }
            if let Some(batch) = queue.batches.front() {
                return Some(Job::Case(Arc::clone(batch)));
            }
            if queue.closed {
                return None;
            }
            if let Some(index) = self.take_test(&mut queue) {
                return Some(Job::Test(index));
            }
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first test whose group has room.
    fn take_test(&self, queue: &mut Queue) -> Option<usize> {
        let at = queue.tests.iter().position(|&index| match self.group(index) {
            Some((group, limit)) => queue.groups.get(group).copied().unwrap_or(0) < limit,
            None => true,
        })?;
        let index = queue.tests.remove(at)?;
        if let Some((group, _)) = self.group(index) {
            *queue.groups.entry(group.to_owned()).or_insert(0) += 1;
        }
        Some(index)
    }

    fn group(&self, index: usize) -> Option<(&str, usize)> {
        let test = self.tests.get(index)?;
        let group = test.config.parallelism_group.as_deref()?;
        let limit = test.config.parallelism_groups.get(group).copied()?;
        Some((group, limit.max(1)))
    }

    fn leave_group(&self, index: usize) {
        if let Some((group, _)) = self.group(index) {
            if let Some(count) = lock(&self.queue).groups.get_mut(group) {
                *count = count.saturating_sub(1);
            }
            self.work.notify_all();
        }
    }
}

impl CasePool for Shared {
    fn run_all(&self, tool: &Arc<dyn Tool>, parts: Vec<Invocation>) -> Vec<Output> {
        let count = parts.len();
        let batch = Arc::new(Batch {
            tool: Arc::clone(tool),
            outputs: Mutex::new((0, vec![None; count])),
            parts,
            next: AtomicUsize::new(0),
            done: Condvar::new(),
        });
        lock(&self.queue).batches.push_back(Arc::clone(&batch));
        self.work.notify_all();
        while batch.run_next() {}
        let mut outputs = lock(&batch.outputs);
        while outputs.0 < count {
            outputs = batch.done.wait(outputs).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut outputs.1).into_iter().flatten().collect()
    }
}

type Report = (usize, usize, TestResult);

fn work(shared: &Shared, slot: &Slot, results: &mpsc::Sender<Report>) {
    while let Some(job) = shared.next_job() {
        let index = match job {
            Job::Case(batch) => {
                batch.run_next();
                continue;
            }
            Job::Test(index) => index,
        };
        let Some(test) = shared.tests.get(index) else { continue };
        let begun = Instant::now();
        *lock(&slot.running) = Some((index, begun));
        let run = || run_test(test, &shared.settings, shared, &slot.progress);
        let mut result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            TestResult::new(ResultCode::Unresolved, "internal error: the test runner panicked")
        });
        if slot.abandoned.load(Ordering::Acquire) {
            return;
        }
        result.started = begun.saturating_duration_since(shared.begun);
        result.worker = slot.number;
        shared.leave_group(index);
        let sent = results.send((slot.number, index, result));
        // In this order, so that when nobody runs anything all results have been sent.
        *lock(&slot.running) = None;
        if sent.is_err() {
            return;
        }
    }
}

struct Crew {
    shared: Arc<Shared>,
    slots: Vec<Arc<Slot>>,
    threads: Vec<std::thread::JoinHandle<()>>,
    results: mpsc::Sender<Report>,
}

impl Crew {
    fn hire(&mut self) -> std::io::Result<()> {
        let slot = Arc::new(Slot {
            running: Mutex::new(None),
            progress: Progress::default(),
            abandoned: AtomicBool::new(false),
            number: self.slots.len(),
        });
        let (shared, results) = (Arc::clone(&self.shared), self.results.clone());
        let seat = Arc::clone(&slot);
        let thread = std::thread::Builder::new()
            .name(format!("lit-{}", slot.number))
            .stack_size(WORKER_STACK)
            .spawn(move || work(&shared, &seat, &results))?;
        self.slots.push(slot);
        self.threads.push(thread);
        Ok(())
    }

    /// Gives up workers whose test is out of time; gives the results in their stead.
    fn give_up(&mut self) -> Vec<(usize, TestResult)> {
        let mut results = Vec::new();
        for at in 0..self.slots.len() {
            let slot = Arc::clone(&self.slots[at]);
            let running = lock(&slot.running);
            let Some((index, begun)) = *running else { continue };
            let Some(test) = self.shared.tests.get(index) else { continue };
            let Some(timeout) = test.config.timeout else { continue };
            let attempt = lock(&slot.progress.attempt_began).unwrap_or(begun).max(begun);
            if attempt.elapsed() < timeout + TIMEOUT_GRACE || slot.abandoned.swap(true, Ordering::AcqRel) {
                continue;
            }
            drop(running);
            let line = slot.progress.line.load(Ordering::Relaxed);
            let mut result = TestResult::new(
                ResultCode::Timeout,
                format!(
                    "Exit Code: 1\n{}\nthe program called at line {line} did not come back; its \
                     thread was left behind\n",
                    timeout_line(Some(timeout))
                ),
            );
            result.summary = format!("timed out at line {line}");
            result.line = Some(line);
            result.elapsed = Some(begun.elapsed());
            result.started = begun.saturating_duration_since(self.shared.begun);
            result.worker = slot.number;
            self.shared.leave_group(index);
            results.push((index, result));
            // Without a replacement the others go on; if there are none the run ends by itself.
            let _ = self.hire();
        }
        results
    }

    /// Whether no test is being run.
    fn is_idle(&self) -> bool {
        let busy =
            |slot: &Arc<Slot>| !slot.abandoned.load(Ordering::Acquire) && lock(&slot.running).is_some();
        !self.slots.iter().any(busy)
    }

    fn stalled(&self, after: Duration) -> Vec<(usize, Duration, u32)> {
        self.slots
            .iter()
            .filter(|slot| !slot.abandoned.load(Ordering::Acquire))
            .filter_map(|slot| {
                let (index, begun) = (*lock(&slot.running))?;
                let elapsed = begun.elapsed();
                (elapsed >= after).then(|| (index, elapsed, slot.progress.line.load(Ordering::Relaxed)))
            })
            .collect()
    }
}

/// Runs the tests; `on_event` sees results in the order of the list. Gives one result per test
/// (SKIPPED where the run was cut short) and why it was.
///
/// # Errors
/// No thread could be started.
pub fn run(
    tests: &[Test],
    settings: Arc<RunSettings>,
    limits: Limits,
    mut on_event: impl FnMut(Event<'_>),
) -> std::io::Result<(Vec<TestResult>, Option<CutShort>)> {
    let begun = Instant::now();
    let shared = Arc::new(Shared {
        tests: tests.to_vec(),
        settings,
        queue: Mutex::new(Queue { tests: (0..tests.len()).collect(), ..Queue::default() }),
        work: Condvar::new(),
        begun,
    });
    let (sender, receiver) = mpsc::channel();
    let mut crew =
        Crew { shared: Arc::clone(&shared), slots: Vec::new(), threads: Vec::new(), results: sender };
    for _ in 0..limits.workers.clamp(1, tests.len().max(1)) {
        crew.hire()?;
    }
    let has_timeouts = tests.iter().any(|test| test.config.timeout.is_some());
    let mut tick = limits.heartbeat.unwrap_or(Duration::from_secs(3600));
    if has_timeouts {
        tick = tick.min(TIMEOUT_GRACE);
    }
    tick = tick.min(interrupt::POLL);
    let deadline = limits.max_time.and_then(|time| begun.checked_add(time));
    let mut last_heartbeat = begun;

    let mut results: Vec<Option<TestResult>> = vec![None; tests.len()];
    let mut shown = 0;
    let mut failures = 0;
    let mut cut_short = None;
    'run: while shown < tests.len() {
        // Waking up for each of many results costs more than they do.
        if tests.len() - shown >= MANY {
            std::thread::sleep(BATCH);
        }
        let wait = match deadline {
            Some(deadline) => tick.min(deadline.saturating_duration_since(Instant::now())),
            None => tick,
        };
        match receiver.recv_timeout(wait) {
            Ok(first) => {
                for (worker, index, result) in std::iter::once(first).chain(receiver.try_iter()) {
                    let slot = crew.slots.get(worker);
                    let abandoned = slot.is_some_and(|slot| slot.abandoned.load(Ordering::Acquire));
                    if !abandoned {
                        results[index].get_or_insert(result);
                    }
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if has_timeouts {
            for (index, result) in crew.give_up() {
                results[index].get_or_insert(result);
            }
        }
        if let Some(interval) = limits.heartbeat
            && last_heartbeat.elapsed() >= interval
        {
            last_heartbeat = Instant::now();
            for (index, elapsed, line) in crew.stalled(interval) {
                on_event(Event::Stalled { test: &tests[index], elapsed, line });
            }
        }
        while let Some(Some(result)) = results.get(shown) {
            on_event(Event::Finished { index: shown, test: &tests[shown], result });
            shown += 1;
            failures += usize::from(result.code.is_failure());
            if limits.max_failures.is_some_and(|max| failures >= max) {
                cut_short = Some(CutShort::MaxFailures);
                break 'run;
            }
        }
        if shown < tests.len() && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            cut_short = Some(CutShort::MaxTime);
            break;
        }
        if shown < tests.len() && interrupt::requested() {
            cut_short = Some(CutShort::Interrupted);
            break;
        }
    }
    {
        let mut queue = lock(&shared.queue);
        queue.closed = true;
        queue.tests.clear();
    }
    shared.work.notify_all();
    if cut_short == Some(CutShort::Interrupted) {
        // What has run counts, and what is about to end may do so.
        let patience = Instant::now() + INTERRUPT_GRACE;
        while !crew.is_idle()
            && let Ok((_, index, result)) =
                receiver.recv_timeout(patience.saturating_duration_since(Instant::now()))
        {
            results[index].get_or_insert(result);
        }
        while let Ok((_, index, result)) = receiver.try_recv() {
            results[index].get_or_insert(result);
        }
        for (index, result) in results.iter().enumerate().skip(shown) {
            if let Some(result) = result.as_ref().filter(|result| result.code != ResultCode::Skipped) {
                on_event(Event::Finished { index, test: &tests[index], result });
            }
        }
        shown = tests.len();
    }
    if cut_short.is_none() {
        // Cut short, the threads still busy are of no more use; otherwise all but those left
        // behind are idle.
        for (thread, slot) in crew.threads.into_iter().zip(&crew.slots) {
            if !slot.abandoned.load(Ordering::Acquire) {
                // A worker catches the panics of its tests; one of its own is in the results.
                let _ = thread.join();
            }
        }
    }
    let results = results
        .into_iter()
        .enumerate()
        .map(|(index, result)| match result {
            // What came after the cut doesn't count, whoever was faster, unless a person made the cut.
            Some(result) if index < shown => result,
            _ => TestResult::new(ResultCode::Skipped, ""),
        })
        .collect();
    Ok((results, cut_short))
}
