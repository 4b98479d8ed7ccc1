//! Reading numpy's `.npy` files: versions 1 to 3, both byte orders, both orders of dimensions.
//!
//! Facts: numpy's `lib/format.py`. Why no crate reads them: `npyz` 0.9 overflows where a header's dimensions do (a panic
//! when overflows are checked, and a wrong count when not), and neither it nor `ndarray-npy` gives the data without a copy.

use std::fmt;

/// Dimensions an array may have; numpy's own limit.
const MAX_RANK: usize = 64;

/// An array of a `.npy` file: in row-major order, little-endian.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NpyArray {
    /// What the elements are, without byte order: `f4`, `V2`.
    pub(super) kind: NpyKind,
    /// How the file writes that: `<f4`.
    pub(super) description: String,
    pub(super) dimensions: Vec<i64>,
    pub(super) data: Vec<u8>,
}

/// Type of the elements: numpy's letter and the size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NpyKind {
    /// `b` truth values, `i` and `u` integers, `f` floats, `c` complex numbers, `V` unknown bits.
    pub(super) letter: char,
    pub(super) bytes: usize,
}

/// Why a file can't be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NpyError {
    /// It is no `.npy` file, or a damaged one.
    Malformed(&'static str),
    /// Its elements are of a type that arrays here don't have.
    Type(String),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "it is not a .npy file: {why}"),
            Self::Type(description) => write!(f, "its elements are `{description}`"),
        }
    }
}

/// Reads a file. The memory of `file` becomes that of the array.
pub(super) fn read(mut file: Vec<u8>) -> Result<NpyArray, NpyError> {
    let (header, start) = split_header(&file)?;
    let header = Header::parse(header)?;
    let (kind, is_big_endian) = element_kind(&header.description)?;
    let sizes = header.dimensions.iter().try_fold(kind.bytes, |product, &size| {
        usize::try_from(size).ok().and_then(|size| product.checked_mul(size))
    });
    let wanted = sizes.ok_or(NpyError::Malformed("its size is out of range"))?;
    file.drain(..start);
    if file.len() != wanted {
        return Err(NpyError::Malformed("its data has another length than its header says"));
    }
    let mut data = file;
    if is_big_endian {
        let part = if kind.letter == 'c' { kind.bytes / 2 } else { kind.bytes };
        data.chunks_exact_mut(part.max(1)).for_each(<[u8]>::reverse);
    }
    if header.fortran_order {
        data = to_row_major(&data, &header.dimensions, kind.bytes);
    }
    Ok(NpyArray { kind, description: header.description, dimensions: header.dimensions, data })
}

/// The header's text, and where the data begins.
fn split_header(file: &[u8]) -> Result<(&[u8], usize), NpyError> {
    const MAGIC: &[u8] = b"\x93NUMPY";
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::Malformed("it does not begin like one"))?;
    let truncated = NpyError::Malformed("it ends in its header");
    let &[major, _minor, ref rest @ ..] = rest else { return Err(truncated) };
    let (length, rest) = match (major, rest) {
        (1, &[a, b, ref rest @ ..]) => (usize::from(u16::from_le_bytes([a, b])), rest),
        (2 | 3, &[a, b, c, d, ref rest @ ..]) => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        (1..=3, _) => return Err(truncated),
        _ => return Err(NpyError::Malformed("its version is not known")),
    };
    let header = rest.get(..length).ok_or(truncated)?;
    Ok((header, file.len() - rest.len() + length))
}

/// Letter, size, and whether the bytes are in big-endian order.
fn element_kind(description: &str) -> Result<(NpyKind, bool), NpyError> {
    let unsupported = || NpyError::Type(description.to_owned());
    let mut rest = description.chars();
    let order = rest.next().ok_or_else(unsupported)?;
    let letter = rest.next().ok_or_else(unsupported)?;
    let bytes: usize = rest.as_str().parse().map_err(|_| unsupported())?;
    let is_known = matches!(
        (letter, bytes),
        ('b', 1) | ('i' | 'u', 1 | 2 | 4 | 8) | ('f', 1 | 2 | 4 | 8) | ('c', 8 | 16) | ('V', 1 | 2)
    );
    let is_big_endian = match order {
        '<' | '|' | '=' => false,
        // Unknown bits are never swapped.
        '>' => letter != 'V',
        _ => return Err(unsupported()),
    };
    if is_known { Ok((NpyKind { letter, bytes }, is_big_endian)) } else { Err(unsupported()) }
}

/// Puts an array whose first dimension varies fastest into row-major order.
fn to_row_major(data: &[u8], dimensions: &[i64], size: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(dimensions.len());
    let mut stride = size;
    for &dimension in dimensions {
        strides.push(stride);
        stride *= dimension as usize;
    }
    let mut result = Vec::with_capacity(data.len());
    let mut index = vec![0i64; dimensions.len()];
    let mut offset = 0;
    while result.len() < data.len() {
        result.extend_from_slice(&data[offset..offset + size]);
        for axis in (0..dimensions.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < dimensions[axis] {
                break;
            }
            offset -= strides[axis] * dimensions[axis] as usize;
            index[axis] = 0;
        }
    }
    result
}

/// What the header says: a literal of a Python dictionary.
#[derive(Debug, Default)]
struct Header {
    description: String,
    fortran_order: bool,
    dimensions: Vec<i64>,
}

impl Header {
    fn parse(text: &[u8]) -> Result<Self, NpyError> {
        let malformed =
            || NpyError::Malformed("its header is not a dictionary of descr, fortran_order and shape");
        let text = std::str::from_utf8(text).map_err(|_| malformed())?;
        let mut rest = Scanner(text.trim_end_matches(['\n', ' ', '\0']));
        let mut header = Self::default();
        let mut seen = [false; 3];
        rest.expect('{').ok_or_else(malformed)?;
        while rest.expect('}').is_none() {
            let key = rest.string().ok_or_else(malformed)?;
            rest.expect(':').ok_or_else(malformed)?;
            let field = match key {
                "descr" => {
                    // Records and objects are lists or other things.
                    let description = rest.string().ok_or_else(|| NpyError::Type("records".to_owned()))?;
                    header.description = description.to_owned();
                    0
                }
                "fortran_order" => {
                    header.fortran_order = rest.truth().ok_or_else(malformed)?;
                    1
                }
                "shape" => {
                    header.dimensions = rest.tuple().ok_or_else(malformed)?;
                    2
                }
                _ => return Err(malformed()),
            };
            if std::mem::replace(&mut seen[field], true) {
                return Err(malformed());
            }
            if rest.expect(',').is_none() {
                rest.expect('}').ok_or_else(malformed)?;
                break;
            }
        }
        if rest.0.trim().is_empty() && seen == [true; 3] { Ok(header) } else { Err(malformed()) }
    }
}

/// Takes pieces of Python from the front of a text.
struct Scanner<'t>(&'t str);

impl<'t> Scanner<'t> {
    fn expect(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(wanted)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let (string, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    fn truth(&mut self) -> Option<bool> {
        let text = self.0.trim_start();
        let (value, rest) = match text.strip_prefix("True") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("False")?),
        };
        self.0 = rest;
        Some(value)
    }

    fn tuple(&mut self) -> Option<Vec<i64>> {
        let mut numbers = Vec::new();
        self.expect('(')?;
        while self.expect(')').is_none() {
            if numbers.len() == MAX_RANK {
                return None;
            }
            let text = self.0.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            numbers.push(text[..end].parse().ok()?);
            // Python 2 marks long integers.
            self.0 = text[end..].strip_prefix('L').unwrap_or(&text[end..]);
            if self.expect(',').is_none() {
                self.expect(')')?;
                break;
            }
        }
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    #[test]
    fn plain_files_are_read() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n";
        let array = read(file(header, &[0, 0, 192, 63, 0, 0, 0, 192])).expect("well formed");
        assert_eq!(array.kind, NpyKind { letter: 'f', bytes: 4 });
        assert_eq!((array.description.as_str(), &array.dimensions[..]), ("<f4", &[2][..]));
        assert_eq!(array.data, [0, 0, 192, 63, 0, 0, 0, 192]);
        let scalar = read(file("{'descr': '|V2', 'fortran_order': False, 'shape': ()}", &[1, 2]));
        assert_eq!(scalar.map(|array| (array.dimensions, array.data)), Ok((vec![], vec![1, 2])));
    }

    #[test]
    fn later_versions_have_a_longer_length() {
        let header = b"{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": (1L,)}";
        for version in [2, 3] {
            let mut file = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
            file.extend((header.len() as u32).to_le_bytes());
            file.extend(header);
            file.push(7);
            assert_eq!(read(file).map(|array| array.data), Ok(vec![7]));
        }
    }

    #[test]
    fn orders_become_little_endian_and_row_major() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3)}";
        // Columns 1 4, 2 5, 3 6.
        let data = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6];
        let array = read(file(header, &data)).expect("well formed");
        assert_eq!(array.data, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        let header = "{'descr': '>c8', 'fortran_order': False, 'shape': ()}";
        let array = read(file(header, &[1, 2, 3, 4, 5, 6, 7, 8])).expect("well formed");
        assert_eq!(array.data, [4, 3, 2, 1, 8, 7, 6, 5]);
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}";
        let array = read(file(header, &(0..12).collect::<Vec<u8>>())).expect("well formed");
        assert_eq!(array.data, [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 0)}";
        assert_eq!(read(file(header, &[])).map(|array| array.data), Ok(vec![]));
    }

    #[test]
    fn shapes_have_so_many_dimensions_at_most() {
        for (rank, last, is_read) in [(MAX_RANK, "", true), (MAX_RANK, ",", true), (MAX_RANK + 1, "", false)]
        {
            let dimensions = vec!["1"; rank].join(",") + last;
            let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({dimensions})}}");
            let array = read(file(&header, &[7]));
            assert_eq!(
                array.map(|array| array.dimensions.len()).ok(),
                is_read.then_some(rank),
                "{rank}{last}"
            );
        }
    }

    #[test]
    fn faults_are_named() {
        let good = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
        for (file, message) in [
            (vec![], "it does not begin like one"),
            (b"\x93NUMPY\x01".to_vec(), "it ends in its header"),
            (b"\x93NUMPY\x01\x00\x05".to_vec(), "it ends in its header"),
            (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "its version is not known"),
            (b"\x93NUMPY\x01\x00\xff\x00{".to_vec(), "it ends in its header"),
            (file(good, &[]), "its data has another length than its header says"),
            (file(good, &[1, 2]), "its data has another length than its header says"),
            (file("{}", &[]), "its header is not a dictionary of descr, fortran_order and shape"),
            (
                file("{'descr': '|u1', 'descr': '|u1'}", &[]),
                "its header is not a dictionary of descr, fortran_order and shape",
            ),
            (file("[1]", &[]), "its header is not a dictionary of descr, fortran_order and shape"),
            (
                file("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", &[]),
                "its size is out of range",
            ),
        ] {
            assert_eq!(read(file), Err(NpyError::Malformed(message)));
        }
        for (description, shown) in [
            ("'|O'", "|O"),
            ("'<f16'", "<f16"),
            ("'<U4'", "<U4"),
            ("'u1'", "u1"),
            ("''", ""),
            ("[('a', '<f4')]", "records"),
        ] {
            let header = format!("{{'descr': {description}, 'fortran_order': False, 'shape': (0,)}}");
            assert_eq!(read(file(&header, &[])), Err(NpyError::Type(shown.to_owned())));
        }
    }
}
