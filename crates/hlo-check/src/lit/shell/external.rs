//! Programs that run as processes of their own, when the configuration allows it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::super::interrupt;

/// Output beyond this size per stream ends the program: nobody can read it, and memory is finite.
pub const MAX_OUTPUT: u64 = 1 << 30;

/// How long a killed program's pipes are waited for.
const GRACE: Duration = Duration::from_millis(200);

/// What a process left behind.
#[derive(Debug, Default)]
pub struct Finished {
    /// Standard output, with standard error in between if they were merged.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit status; negative for the number of a signal that ended it.
    pub status: i32,
    /// It was ended because the time was up.
    pub timed_out: bool,
    /// It was ended because the run is interrupted.
    pub interrupted: bool,
}

/// A program to start.
#[derive(Debug)]
pub struct Request<'a> {
    /// The file to run.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [String],
    /// Working folder.
    pub cwd: &'a Path,
    /// Its whole environment.
    pub env: &'a BTreeMap<String, String>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Whether standard error goes where standard output goes.
    pub merge: bool,
    /// When it is killed.
    pub deadline: Option<Instant>,
}

/// Finds a program as a shell would: a path as it is, a name in the folders of `PATH`.
pub fn find(name: &str, cwd: &Path, search: &str) -> Option<PathBuf> {
    let extensions: Vec<OsString> = if cfg!(windows) {
        let list = std::env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".to_owned());
        std::iter::once(OsString::new()).chain(list.split(';').map(OsString::from)).collect()
    } else {
        vec![OsString::new()]
    };
    let in_dir = |dir: &Path| {
        extensions.iter().find_map(|extension| {
            let mut file = dir.join(name).into_os_string();
            file.push(extension);
            let file = PathBuf::from(file);
            file.is_file().then_some(file)
        })
    };
    if name.starts_with('.')
        && let Some(file) = in_dir(cwd)
    {
        return Some(file);
    }
    if Path::new(name).is_absolute() {
        return in_dir(Path::new(""));
    }
    std::env::split_paths(search).find_map(|dir| in_dir(&cwd.join(dir)))
}

/// Runs a program to its end.
///
/// # Errors
/// It could not be started.
pub fn run(request: Request<'_>) -> std::io::Result<Finished> {
    let mut command = Command::new(request.program);
    command.args(request.args).current_dir(request.cwd).env_clear().envs(request.env);
    command.stdin(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own, so that its children can be ended with it.
        command.process_group(0);
    }
    let (tx, rx) = mpsc::channel();
    let mut child;
    if request.merge {
        let (reader, writer) = std::io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        child = command.spawn()?;
        collect(reader, 0, tx.clone());
    } else {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        child = command.spawn()?;
        if let Some(stdout) = child.stdout.take() {
            collect(stdout, 0, tx.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            collect(stderr, 1, tx.clone());
        }
    }
    // The command still holds the write ends; readers would never see the end of the stream.
    drop(command);
    drop(tx);
    feed(&mut child, request.stdin);

    let mut finished = Finished::default();
    let mut expected = if request.merge { 1 } else { 2 };
    while expected > 0 {
        let patience = match request.deadline {
            None => interrupt::POLL,
            Some(deadline) => interrupt::POLL.min(deadline.saturating_duration_since(Instant::now())),
        };
        let received = rx.recv_timeout(patience);
        if received == Err(mpsc::RecvTimeoutError::Disconnected) {
            break;
        }
        let Ok((index, bytes)) = received else {
            finished.timed_out = request.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            finished.interrupted = !finished.timed_out && interrupt::requested();
            if !finished.timed_out && !finished.interrupted {
                continue;
            }
            kill(&mut child);
            while let Ok((index, bytes)) = rx.recv_timeout(GRACE) {
                store(&mut finished, index, bytes);
            }
            break;
        };
        store(&mut finished, index, bytes);
        expected -= 1;
    }
    wait(&mut child, request.deadline, &mut finished)?;
    Ok(finished)
}

fn store(finished: &mut Finished, index: usize, bytes: Vec<u8>) {
    if index == 0 { finished.stdout = bytes } else { finished.stderr = bytes }
}

fn collect(stream: impl Read + Send + 'static, index: usize, tx: mpsc::Sender<(usize, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A read error ends the stream; what came before it is kept. Dropping the stream at the
        // limit makes further writes of the program fail.
        let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = tx.send((index, bytes));
    });
}

fn feed(child: &mut Child, bytes: Vec<u8>) {
    let Some(mut stdin) = child.stdin.take() else { return };
    if bytes.is_empty() {
        return;
    }
    std::thread::spawn(move || {
        // A program that stops reading early is its own business.
        let _ = stdin.write_all(&bytes);
    });
}

fn wait(child: &mut Child, deadline: Option<Instant>, finished: &mut Finished) -> std::io::Result<()> {
    let status = loop {
        // The streams are closed, so the program is about to end; this rarely goes round.
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || interrupt::requested() {
            finished.timed_out |= late;
            finished.interrupted |= !late;
            kill(child);
            break child.wait()?;
        }
        std::thread::sleep(Duration::from_micros(200));
    };
    finished.status = status_code(status);
    Ok(())
}

fn status_code(status: std::process::ExitStatus) -> i32 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return -signal;
        }
    }
    status.code().unwrap_or(1)
}

fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself meanwhile.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}
