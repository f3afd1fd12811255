//! The records of a CSV file, each with the line it starts on.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use crate::TableError;
use crate::file::shard::{Format, Packing, Separator, Shard};
use crate::file::{Header, ReadOptions, file_error, input, io_error};

/// A CSV file that is being read, record by record.
pub(super) struct Records {
    path: PathBuf,
    reader: Reader<Box<dyn BufRead>>,
    consumed: Rc<Cell<u64>>,
    bytes: u64,
    /// The last byte that is not part of a line ending.
    last: Rc<Cell<u8>>,
    quote: Option<u8>,
    /// The line of the current record, if its last field spans several lines.
    long: Option<u64>,
    names: Vec<String>,
    record: ByteRecord,
    line_before: u64,
    line_end: LineEnd,
    first: First,
}

/// Whether the record that was read for the names is still to be returned.
enum First {
    Pending,
    Taken,
}

/// Records end at `\r` if there is one, so their `\n` counts as part of the next.
enum LineEnd {
    Newline,
    CarriageReturn,
}

impl Records {
    /// Opens the file and reads the names of its columns. Refuses a file without records.
    pub(super) fn open_shard(shard: &Shard, options: &ReadOptions) -> Result<Self, TableError> {
        let path = &shard.path;
        let file = input::open_reader(path)?;
        shard.known.count_open();
        let consumed = Rc::new(Cell::new(0));
        let counted = Counted {
            file,
            consumed: Rc::clone(&consumed),
        };
        let (text, tab) = unpack_shard(shard, counted)?;
        let last = Rc::new(Cell::new(0));
        let text = Ending {
            text,
            last: Rc::clone(&last),
        };
        let mut text: Box<dyn BufRead> = Box::new(BufReader::with_capacity(BUFFER_BYTES, text));
        let start = text.fill_buf().map_err(io_error(path, "read"))?;
        if let Some((reason, hint)) = mistaken_format(start) {
            return Err(file_error(path, reason, hint));
        }
        let line = first_line(start);
        let delimiter = options
            .delimiter
            .unwrap_or_else(|| guess_separator(line, tab));
        let line_end = match line.last() {
            Some(b'\r') => LineEnd::CarriageReturn,
            _ => LineEnd::Newline,
        };
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .quoting(options.quote.is_some())
            .quote(options.quote.unwrap_or(b'"'))
            .from_reader(text);
        let mut records = Self {
            path: path.clone(),
            reader,
            consumed,
            bytes: shard.bytes,
            last,
            quote: options.quote,
            long: None,
            names: Vec::new(),
            record: ByteRecord::new(),
            line_before: 1,
            line_end,
            first: First::Taken,
        };
        records.name(options.header)?;
        Ok(records)
    }

    fn name(&mut self, header: Header) -> Result<(), TableError> {
        if !self.read_record()? {
            let hint = "a CSV file has at least a line with the names of its columns";
            let reason = "expected a table, found an empty file";
            return Err(file_error(&self.path, reason, hint));
        }
        let numbered = |place: usize| format!("column_{}", place + 1);
        let mut names = Vec::new();
        for place in 0..self.record.len() {
            let text = match header {
                Header::Present => self.cell_text(place)?.trim(),
                Header::Absent => "",
            };
            names.push(if text.is_empty() {
                numbered(place)
            } else {
                text.into()
            });
        }
        self.names = names;
        if header == Header::Absent {
            self.first = First::Pending;
        }
        Ok(())
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Moves to the next record; returns false after the last. Refuses one of another length.
    pub(super) fn next_record(&mut self) -> Result<bool, TableError> {
        if let First::Pending = self.first {
            self.first = First::Taken;
            return Ok(true);
        }
        if !self.read_record()? {
            return Ok(false);
        }
        if self.record.len() == self.names.len() {
            return Ok(true);
        }
        Err(TableError::Ragged {
            path: self.path.clone(),
            line: self.line_number(),
            expected: self.names.len() as u64,
            found: self.record.len() as u64,
        })
    }

    /// The text of one field of the current record.
    pub(super) fn cell_text(&self, place: usize) -> Result<&str, TableError> {
        std::str::from_utf8(&self.record[place]).map_err(|_| TableError::Encoding {
            path: self.path.clone(),
            line: self.line_number(),
            field: place + 1,
        })
    }

    /// The error for a field that does not fit the type of its column.
    pub(super) fn refusal_error(&self, place: usize, expected: &str) -> TableError {
        let text = String::from_utf8_lossy(&self.record[place]);
        let found: String = text.trim().chars().take(40).collect();
        TableError::Cell {
            path: self.path.clone(),
            line: self.line_number(),
            field: place + 1,
            column: self.names[place].clone(),
            expected: expected.to_string(),
            found,
        }
    }

    /// The share of the file that has been read.
    pub(super) fn share_read(&self) -> f64 {
        (self.consumed.get() as f64 / self.bytes.max(1) as f64).min(1.0)
    }

    fn read_record(&mut self) -> Result<bool, TableError> {
        self.line_before = self.reader.position().line();
        let read = self.reader.read_byte_record(&mut self.record);
        let read = read.map_err(|error| self.broken_error(error))?;
        if let Some(line) = self
            .long
            .filter(|_| !read && self.quote != Some(self.last.get()))
        {
            let path = self.path.clone();
            return Err(TableError::OpenQuote { path, line });
        }
        let field = self
            .record
            .len()
            .checked_sub(1)
            .map(|last| &self.record[last]);
        let is_long = field.is_some_and(|field| field.contains(&b'\n'));
        self.long = is_long.then(|| self.line_number());
        Ok(read)
    }

    /// The line on which the current record starts: the lines read so far less those within its
    /// fields. Blank lines before it are thus skipped.
    fn line_number(&self) -> u64 {
        let within = self.record.as_slice().split(|byte| *byte == b'\n').count() - 1;
        let ended = match self.line_end {
            LineEnd::Newline => 1,
            LineEnd::CarriageReturn => 0,
        };
        let after = self.reader.position().line();
        after
            .saturating_sub(within as u64 + ended)
            .max(self.line_before)
    }

    fn broken_error(&self, error: ::csv::Error) -> TableError {
        match error.into_kind() {
            ErrorKind::Io(source) => io_error(&self.path, "read")(source),
            other => TableError::Format {
                path: self.path.clone(),
                reason: format!("{other:?}"),
            },
        }
    }
}

/// A file that counts the bytes read from it, before they are decompressed.
struct Counted {
    file: Box<dyn Read>,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(into)?;
        self.consumed.set(self.consumed.get() + count as u64);
        Ok(count)
    }
}

/// Text that records its last byte other than line endings.
struct Ending {
    text: Box<dyn Read>,
    last: Rc<Cell<u8>>,
}

impl Read for Ending {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.text.read(into)?;
        let inner = into[..count].iter().rev();
        if let Some(last) = inner.copied().find(|byte| !b"\r\n".contains(byte)) {
            self.last.set(last);
        }
        Ok(count)
    }
}

/// The true format of a file that was taken for text, and advice.
fn mistaken_format(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let markup = text.trim_ascii_start();
    let markup = markup[..markup.len().min(9)].to_ascii_lowercase();
    match start {
        [b'P', b'K', 3, 4, ..] => Some((
            "expected text, found a zip archive, as spreadsheets are",
            "unpack it, or save the sheet as csv",
        )),
        [0x1f, 0x8b, ..] => Some((
            "expected text, found gzip data",
            "end the name of the file in .gz",
        )),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some((
            "expected text, found zstd data",
            "end the name of the file in .zst",
        )),
        [b'P', b'A', b'R', b'1', ..] => Some((
            "expected text, found Parquet data",
            "end the name of the file in .parquet",
        )),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some((
            "expected text, found Arrow data",
            "end the name of the file in .arrow",
        )),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some((
            "expected UTF-8 text, found UTF-16",
            "convert the file, for instance with iconv -f UTF-16 -t UTF-8",
        )),
        _ if markup.starts_with(b"<!doctype") || markup.starts_with(b"<html") => Some((
            "expected a table, found a page in HTML",
            "open it in a browser: it may ask to sign in before the table is given out",
        )),
        _ => None,
    }
}

const BUFFER_BYTES: usize = 1 << 18;

fn unpack_shard(shard: &Shard, file: Counted) -> Result<(Box<dyn Read>, Separator), TableError> {
    let Format::Csv(packing, separator) = shard.format else {
        unreachable!("only CSV files are read as text");
    };
    let text: Box<dyn Read> = match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Packing::Zstandard => {
            let opened = zstd::Decoder::new(file);
            Box::new(opened.map_err(io_error(Path::new(&shard.path), "decompress"))?)
        }
    };
    Ok((text, separator))
}

fn first_line(start: &[u8]) -> &[u8] {
    let end = start.iter().position(|byte| *byte == b'\n');
    &start[..end.unwrap_or(start.len())]
}

fn guess_separator(line: &[u8], separator: Separator) -> u8 {
    match separator {
        Separator::Tab => b'\t',
        Separator::Comma if line.contains(&b',') => b',',
        Separator::Comma => (*b";\t|")
            .into_iter()
            .find(|byte| line.contains(byte))
            .unwrap_or(b','),
    }
}
