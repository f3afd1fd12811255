//! Checks the lengths that an Arrow file claims before memory is reserved for them.
//!
//! The Arrow library reserves as much as a file claims, and a damaged file may claim more memory
//! than there is, which would abort the process. So every message must lie within the file, and the
//! size of a decompressed buffer must at least be reservable.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

use arrow_ipc::{Block, Message, RecordBatch, root_as_footer, root_as_message};

/// The location of a message: its metadata, then its body.
struct Span {
    start: u64,
    metadata: u64,
    body: u64,
}

/// Checks all messages of a file, which lists them at its end.
pub(super) fn check_file<R: Read + Seek>(mut file: R) -> Result<()> {
    let total = file.seek(SeekFrom::End(0))?;
    let tail = read_at(&mut file, total, total.saturating_sub(10), 10)?;
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = (total - 10).checked_sub(length).ok_or_else(too_long)?;
    let footer = read_at(&mut file, total, start, length)?;
    let footer = root_as_footer(&footer).map_err(damaged_error)?;
    let blocks = (footer.dictionaries().into_iter().flatten())
        .chain(footer.recordBatches().into_iter().flatten());
    for block in blocks {
        check_span(&mut file, total, &block_span(block)?)?;
    }
    file.rewind()
}

/// Checks all messages of a stream, which follow one another.
pub(super) fn check_stream<R: Read + Seek>(mut file: R) -> Result<()> {
    let total = file.seek(SeekFrom::End(0))?;
    let mut start = 0;
    while start + 4 <= total {
        let word = |at: u64, file: &mut R| -> Result<u32> {
            let bytes = read_at(file, total, at, 4)?;
            Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        let (prefix, length) = match word(start, &mut file)? {
            u32::MAX => (8, word(start + 4, &mut file)?),
            length => (4, length),
        };
        if length == 0 {
            break;
        }
        let metadata = prefix + u64::from(length);
        let bytes = read_at(&mut file, total, start, metadata)?;
        let body = parse_message(&bytes)?.bodyLength();
        let body = u64::try_from(body).map_err(damaged_error)?;
        let span = Span {
            start,
            metadata,
            body,
        };
        start = check_span(&mut file, total, &span)?;
    }
    file.rewind()
}

fn block_span(block: &Block) -> Result<Span> {
    Ok(Span {
        start: u64::try_from(block.offset()).map_err(damaged_error)?,
        metadata: u64::try_from(block.metaDataLength()).map_err(damaged_error)?,
        body: u64::try_from(block.bodyLength()).map_err(damaged_error)?,
    })
}

/// Checks one message and returns its end.
fn check_span<R: Read + Seek>(file: &mut R, total: u64, span: &Span) -> Result<u64> {
    let body = span.start.checked_add(span.metadata).ok_or_else(too_long)?;
    let end = body.checked_add(span.body).filter(|end| *end <= total);
    let end = end.ok_or_else(too_long)?;
    let bytes = read_at(file, total, span.start, span.metadata)?;
    let message = parse_message(&bytes)?;
    let batch = (message.header_as_record_batch()).or_else(|| {
        message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data())
    });
    match batch {
        Some(batch) if batch.compression().is_some() => {
            check_compression(file, (body, end), &batch)?;
        }
        _ => {}
    }
    Ok(end)
}

/// Each compressed buffer begins with its decompressed length; −1 if it is not compressed.
fn check_compression<R: Read + Seek>(
    file: &mut R,
    (body, end): (u64, u64),
    batch: &RecordBatch<'_>,
) -> Result<()> {
    let buffers = batch.buffers().into_iter().flatten();
    for buffer in buffers.filter(|buffer| buffer.length() >= 8) {
        let offset = u64::try_from(buffer.offset()).map_err(damaged_error)?;
        let at = body.checked_add(offset).ok_or_else(too_long)?;
        let bytes = read_at(file, end, at, 8)?;
        let length = bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | i64::from(*byte));
        if let Ok(length) = usize::try_from(length) {
            check_reservable(length)?;
        }
    }
    Ok(())
}

fn check_reservable(length: usize) -> Result<()> {
    Vec::<u8>::new()
        .try_reserve_exact(length)
        .map_err(|_| too_long())
}

/// The message in its metadata, which begins with a length after an optional mark.
fn parse_message(bytes: &[u8]) -> Result<Message<'_>> {
    let prefix = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    root_as_message(bytes.get(prefix..).unwrap_or_default()).map_err(damaged_error)
}

fn read_at<R: Read + Seek>(file: &mut R, total: u64, start: u64, length: u64) -> Result<Vec<u8>> {
    let within = start.checked_add(length).is_some_and(|end| end <= total);
    if !within {
        return Err(too_long());
    }
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        return Ok(bytes);
    }
    Err(too_long())
}

fn too_long() -> Error {
    damaged_error("a part is longer than the file")
}

fn damaged_error(reason: impl std::fmt::Display) -> Error {
    let reason = format!("the file is damaged ({reason})");
    Error::new(ErrorKind::InvalidData, reason.replace('\n', " "))
}
