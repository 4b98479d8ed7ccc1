//! `split-file`: several files in one, as LLVM's tool of that name.

use std::collections::BTreeMap;

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{OptionTable, failure, read_operand, reason};
use crate::tool::Output;

/// Length of the marker a line begins with: `//--- ` or any character and `--- `.
fn marker_length(line: &[u8]) -> Option<usize> {
    if line.starts_with(b"//--- ") {
        return Some(6);
    }
    let text = std::str::from_utf8(line).ok()?;
    let first = text.chars().next()?.len_utf8();
    text[first..].starts_with("--- ").then_some(first + 4)
}

/// `split-file [--leading-lines] FILE DIR`.
pub(super) fn split_file(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let table = OptionTable { flags: "", values: "", long: &["leading-lines", "no-leading-lines"] };
    let options = match table.parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(1, format!("split-file: error: {message}"))),
    };
    let leading = options.found.last().is_some_and(|(name, _)| name == "leading-lines");
    let (input, dir) = match options.operands.as_slice() {
        [input, dir] => (input, dir),
        [] => return Ok(failure(1, "split-file: error: input filename is not specified")),
        [_] => return Ok(failure(1, "split-file: error: output directory is not specified")),
        _ => return Ok(failure(1, "split-file: error: too many positional arguments")),
    };
    let error = |message: String| failure(1, format!("split-file: error: {message}"));
    let bytes = match read_operand(input, &stdin, call) {
        Ok(bytes) => bytes,
        Err(problem) => return Ok(error(format!("{input}: {}", reason(&problem)))),
    };
    let parts = match parts(&bytes, leading) {
        Ok(parts) => parts,
        Err((line, message)) => return Ok(failure(1, format!("{input}:{line}: error: {message}"))),
    };
    if parts.is_empty() {
        return Ok(error(format!("{input}: no part separator was found")));
    }
    let dir = call.cwd().join(dir);
    if dir.is_file() {
        // LLVM's tool replaces what is in its way.
        if let Err(problem) = std::fs::remove_file(&dir) {
            return Ok(error(format!("{}: {}", dir.display(), reason(&problem))));
        }
    }
    for (name, content) in parts {
        let path = dir.join(&name);
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, content));
        if let Err(problem) = written {
            return Ok(error(format!("{}: {}", path.display(), reason(&problem))));
        }
    }
    Ok(Output::default())
}

/// Parts by name; with `leading`, each begins with as many empty lines as precede it in the file.
fn parts(bytes: &[u8], leading: bool) -> Result<BTreeMap<String, Vec<u8>>, (usize, String)> {
    let mut parts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut current: Option<String> = None;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let Some(length) = marker_length(text) else {
            if let Some(part) = current.as_ref().and_then(|name| parts.get_mut(name)) {
                part.extend_from_slice(line);
            }
            continue;
        };
        let number = index + 1;
        let name = String::from_utf8_lossy(&text[length..]).into_owned();
        if name.is_empty() {
            continue;
        }
        if name.trim() != name {
            return Err((number, "part name cannot have leading or trailing space".to_owned()));
        }
        let content = if leading { vec![b'\n'; number] } else { Vec::new() };
        if parts.insert(name.clone(), content).is_some() {
            let separator = String::from_utf8_lossy(text);
            return Err((number, format!("'{separator}' occurs more than once")));
        }
        current = Some(name);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting() {
        let text = b"pre\n//--- a\n1\n2\n#--- sub/b\n3\n//---c\n //--- d\n";
        let found = parts(text, false).unwrap();
        assert_eq!(found["a"], b"1\n2\n");
        assert_eq!(found["sub/b"], b"3\n//---c\n //--- d\n");
        let found = parts(text, true).unwrap();
        assert_eq!(found["sub/b"], b"\n\n\n\n\n3\n//---c\n //--- d\n");
        let error = parts(b"//--- a\n1\n//--- a\n", false).unwrap_err();
        assert_eq!(error, (3, "'//--- a' occurs more than once".to_owned()));
        assert!(parts(b"//--- a \n", false).is_err());
        assert!(parts(b"x\n", false).unwrap().is_empty());
    }
}
