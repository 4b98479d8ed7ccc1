//! The file that a result goes to.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is made when there is something to write: of a run that fails before, nothing is left and nothing
/// overwritten.
pub(crate) struct ResultFile {
    path: PathBuf,
    /// What is kept until [`ResultFile::finish`], if it must be known first that all went well.
    kept: Option<Vec<u8>>,
    file: Option<File>,
    error: Option<io::Error>,
}

impl ResultFile {
    /// A file at `path`; with `whole` nothing is written before the end.
    pub(crate) fn new(path: PathBuf, whole: bool) -> Self {
        Self { path, kept: whole.then(Vec::new), file: None, error: None }
    }

    /// Writes what is left to write. The file is there now, if only an empty one.
    ///
    /// # Errors
    /// The file can't be made or written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let kept = self.kept.take().unwrap_or_default();
        self.open()?.write_all(&kept)
    }

    /// Why writing failed, if it did.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn open(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::create(&self.path)?,
        };
        Ok(self.file.insert(file))
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(kept) = &mut self.kept {
            return kept.write(bytes);
        }
        let result = self.open().and_then(|file| file.write(bytes));
        result.map_err(|error| {
            let kind = error.kind();
            // An interrupted write is tried again.
            if kind != io::ErrorKind::Interrupted {
                self.error = Some(error);
            }
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}
