//! `mkdir`, `rm`, `cp`, `touch`.

use std::fs;
use std::path::Path;

use super::super::shell::call::Call;
use super::super::shell::exec::{ShellState, Stop};
use super::{OptionTable, failure, reason, success};
use crate::tool::Output;

fn refuse(name: &str, message: &str) -> Stop {
    Stop::Refused(format!("Unsupported: '{name}':  {message}"))
}

fn finish(complaints: String) -> Output {
    Output { status: i32::from(!complaints.is_empty()), stderr: complaints.into_bytes(), ..Output::default() }
}

/// `mkdir [-p] DIR...`. Like lit's, it is content with folders that are already there.
pub(super) fn mkdir(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    let options = OptionTable { flags: "p", values: "", long: &[] }
        .parse(args)
        .map_err(|message| refuse("mkdir", &message))?;
    if options.operands.is_empty() {
        return Err(Stop::Refused("Error: 'mkdir' is missing an operand".to_owned()));
    }
    let mut complaints = String::new();
    for name in &options.operands {
        let path = state.resolve(name);
        if !options.found.is_empty() {
            fs::create_dir_all(&path)
                .map_err(|error| Stop::Broken(format!("mkdir: {}: {}", path.display(), reason(&error))))?;
        } else if let Err(error) = fs::create_dir(&path)
            && !path.is_dir()
        {
            complaints.push_str(&format!(
                "Error: 'mkdir' command failed, {}: {}\n",
                path.display(),
                reason(&error)
            ));
        }
    }
    Ok(finish(complaints))
}

/// `rm [-f] [-r] PATH...`.
pub(super) fn rm(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    let options = OptionTable { flags: "frR", values: "", long: &["recursive"] }
        .parse(args)
        .map_err(|message| refuse("rm", &message))?;
    if options.operands.is_empty() {
        return Err(Stop::Refused("Error: 'rm' is missing an operand".to_owned()));
    }
    let force = options.found.iter().any(|(name, _)| name == "f");
    let recursive = options.found.iter().any(|(name, _)| name != "f");
    let mut complaints = String::new();
    for name in &options.operands {
        let path = state.resolve(name);
        let result = match fs::symlink_metadata(&path) {
            Err(_) if force => continue,
            Err(error) => Err(error),
            Ok(meta) if meta.is_dir() && !recursive => {
                complaints.push_str(&format!("Error: {} is a directory\n", path.display()));
                continue;
            }
            Ok(meta) if meta.is_dir() => remove_tree(&path),
            Ok(_) => remove_file(&path),
        };
        if let Err(error) = result {
            complaints.push_str(&format!(
                "Error: 'rm' command failed, {}: {}\n",
                path.display(),
                reason(&error)
            ));
        }
    }
    Ok(finish(complaints))
}

/// Removes a file, also one that may not be written.
fn remove_file(path: &Path) -> std::io::Result<()> {
    fs::remove_file(path).or_else(|error| {
        allow_writing(path)?;
        fs::remove_file(path).map_err(|_| error)
    })
}

fn remove_tree(path: &Path) -> std::io::Result<()> {
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    // Something in it is read-only; depth is bounded by the longest path the system allows.
    for entry in walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok) {
        if !entry.file_type().is_symlink() {
            // What stays read-only is reported by the second attempt.
            let _ = allow_writing(entry.path());
        }
    }
    fs::remove_dir_all(path)
}

fn allow_writing(path: &Path) -> std::io::Result<()> {
    let mut permissions = fs::symlink_metadata(path)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        permissions.set_mode(permissions.mode() | 0o700);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}

/// `cp SOURCE... DEST`, files only.
pub(super) fn cp(args: &[String], _: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let options = match (OptionTable { flags: "f", values: "", long: &[] }).parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(1, format!("Unsupported: 'cp':  {message}"))),
    };
    let Some((target, sources)) = options.operands.split_last().filter(|(_, sources)| !sources.is_empty())
    else {
        return Ok(failure(1, "cp: missing file operand"));
    };
    let target_path = call.cwd().join(target);
    let into_dir = target_path.is_dir();
    if sources.len() > 1 && !into_dir {
        return Ok(failure(1, format!("cp: target '{target}' is not a directory")));
    }
    let mut complaints = String::new();
    for source in sources {
        let from = call.cwd().join(source);
        let to = match from.file_name() {
            Some(name) if into_dir => target_path.join(name),
            _ => target_path.clone(),
        };
        if from.is_dir() {
            complaints.push_str(&format!("cp: -r not specified; omitting directory '{source}'\n"));
        } else if let Err(error) = fs::copy(&from, &to) {
            complaints.push_str(&format!("cp: cannot copy '{source}': {}\n", reason(&error)));
        }
    }
    Ok(finish(complaints))
}

/// `touch FILE...`: makes files that aren't there, and freshens those that are.
pub(super) fn touch(args: &[String], _: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let options = match (OptionTable { flags: "", values: "", long: &[] }).parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(1, format!("Unsupported: 'touch':  {message}"))),
    };
    if options.operands.is_empty() {
        return Ok(failure(1, "touch: missing file operand"));
    }
    for name in &options.operands {
        let path = call.cwd().join(name);
        let touched = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(std::time::SystemTime::now()));
        if let Err(error) = touched {
            return Ok(failure(1, format!("touch: cannot touch '{name}': {}", reason(&error))));
        }
    }
    Ok(success(Vec::new()))
}
