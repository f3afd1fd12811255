//! A job over all rows: the results of blocks of rows, and how they are merged in the order of the
//! rows.

use std::any::Any;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{RowProgram, RowSource, RowsError};

/// A computation over all rows. A store runs it block by block, wherever the rows are, and merges
/// the results in the order of the rows, so that they do not depend on the number of threads or
/// workers.
pub trait RowJob: Send + Sync {
    /// The result of some rows.
    type Partial: Clone + Serialize + DeserializeOwned + Send + 'static;
    /// Compiled programs and buffers for blocks of one length, which one thread uses at a time.
    type Machine: Send + 'static;

    /// The name of the job in the table of jobs.
    const NAME: &'static str;

    /// The numbers that a machine depends on, in addition to the model and the length of blocks.
    fn shape(&self) -> Vec<u64> {
        Vec::new()
    }

    /// How rows are cut into blocks.
    fn cut(&self) -> Cut {
        Cut::Whole
    }

    /// A machine for blocks of this many rows.
    fn machine(&self, rows: usize) -> Self::Machine;

    /// Bytes that a machine needs besides the rows.
    fn bytes(&self, _machine: &Self::Machine) -> usize {
        0
    }

    /// The result of no rows.
    fn empty(&self) -> Self::Partial;

    /// Adds a block of rows to the result of the previous rows.
    fn add_block(
        &self,
        machine: &mut Self::Machine,
        block: &RowBlock<'_>,
        into: &mut Self::Partial,
    );

    /// Merges the result of the next rows into that of the previous rows.
    fn merge(&self, into: &mut Self::Partial, next: Self::Partial);

    /// The job as bytes, from which the table of jobs reads it for another model of the same
    /// program.
    fn message(&self) -> Vec<u8>;

    /// Whether the same job may be repeated, so that a store should keep its result.
    fn is_repeated(&self) -> bool {
        true
    }
}

/// How rows are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All rows at once if they are in memory, otherwise blocks of the usual size.
    Whole,
    /// At most this many rows.
    AtMost(usize),
    /// Blocks of any length: the machine accepts any number of rows.
    Any,
}

/// Consecutive rows of a source.
pub struct RowBlock<'a> {
    /// The source of the rows.
    pub source: &'a dyn RowSource,
    /// The rows of the block within the source.
    pub range: Range<usize>,
    /// How the rows are set as inputs of a program.
    pub placement: Placement,
}

/// How rows are set as inputs of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// They are copied.
    Copied,
    /// They are all rows of a table in memory, and are borrowed.
    Lent,
    /// They are set already, because the machine had the same block before.
    Kept,
}

impl RowBlock<'_> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether the block has no rows.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Sets the rows as inputs of a program that is compiled for this many rows.
    pub fn place(&self, program: &mut RowProgram) {
        match self.placement {
            Placement::Copied => program.place(self.source, self.range.clone()),
            Placement::Lent => program.place_all(self.source),
            Placement::Kept => {}
        }
    }
}

/// The result of some rows with an erased type.
pub type AnyPartial = Box<dyn Any + Send>;
/// A machine with an erased type.
pub type AnyMachine = Box<dyn Any + Send>;

/// A [`RowJob`] with erased types, for stores.
pub trait AnyJob: Send + Sync {
    /// [`RowJob::NAME`]
    fn name(&self) -> &'static str;
    /// [`RowJob::shape`]
    fn shape(&self) -> Vec<u64>;
    /// [`RowJob::cut`]
    fn cut(&self) -> Cut;
    /// [`RowJob::machine`]
    fn machine(&self, rows: usize) -> AnyMachine;
    /// [`RowJob::bytes`]
    fn bytes(&self, machine: &AnyMachine) -> usize;
    /// [`RowJob::empty`]
    fn empty(&self) -> AnyPartial;
    /// [`RowJob::add_block`]
    fn add_block(&self, machine: &mut AnyMachine, block: &RowBlock<'_>, into: &mut AnyPartial);
    /// [`RowJob::merge`]
    fn merge(&self, into: &mut AnyPartial, next: AnyPartial);
    /// [`RowJob::message`]
    fn message(&self) -> Vec<u8>;
    /// [`RowJob::is_repeated`]
    fn is_repeated(&self) -> bool;
    /// A copy of a result.
    fn copied(&self, partial: &AnyPartial) -> AnyPartial;
    /// A result as bytes.
    fn encode(&self, partial: &AnyPartial) -> Vec<u8>;
    /// Reads a result from bytes.
    ///
    /// # Errors
    /// If the bytes are not those of a result of this job.
    fn decode(&self, bytes: &[u8]) -> Result<AnyPartial, RowsError>;
}

const OWN: &str = "a store hands a job its own machines and results";

impl<J: RowJob> AnyJob for J {
    fn name(&self) -> &'static str {
        J::NAME
    }

    fn shape(&self) -> Vec<u64> {
        RowJob::shape(self)
    }

    fn cut(&self) -> Cut {
        RowJob::cut(self)
    }

    fn machine(&self, rows: usize) -> AnyMachine {
        Box::new(RowJob::machine(self, rows))
    }

    fn bytes(&self, machine: &AnyMachine) -> usize {
        RowJob::bytes(self, machine.downcast_ref().expect(OWN))
    }

    fn empty(&self) -> AnyPartial {
        Box::new(RowJob::empty(self))
    }

    fn add_block(&self, machine: &mut AnyMachine, block: &RowBlock<'_>, into: &mut AnyPartial) {
        let machine = machine.downcast_mut().expect(OWN);
        RowJob::add_block(self, machine, block, into.downcast_mut().expect(OWN));
    }

    fn merge(&self, into: &mut AnyPartial, next: AnyPartial) {
        let next: Box<J::Partial> = next.downcast().expect(OWN);
        RowJob::merge(self, into.downcast_mut().expect(OWN), *next);
    }

    fn message(&self) -> Vec<u8> {
        RowJob::message(self)
    }

    fn is_repeated(&self) -> bool {
        RowJob::is_repeated(self)
    }

    fn copied(&self, partial: &AnyPartial) -> AnyPartial {
        let partial: &J::Partial = partial.downcast_ref().expect(OWN);
        Box::new(partial.clone())
    }

    fn encode(&self, partial: &AnyPartial) -> Vec<u8> {
        let partial: &J::Partial = partial.downcast_ref().expect(OWN);
        encoded(partial)
    }

    fn decode(&self, bytes: &[u8]) -> Result<AnyPartial, RowsError> {
        let partial: J::Partial = decoded(bytes)?;
        Ok(Box::new(partial))
    }
}

/// The bytes of a checksum at the end of a message.
const CHECKSUM: usize = 4;

/// Encodes a job or a result as bytes, with a checksum.
pub fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    let bytes = postcard::to_allocvec(value);
    let mut bytes = bytes.expect("memory is large enough, and everything has a length");
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// Reads a job or a result from bytes.
///
/// # Errors
/// If the bytes were changed, or are those of something else, such as a message of another version.
pub fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RowsError> {
    let refused = |found: &str| {
        RowsError::Lost(format!(
            "rows: expected a message of lehr {}, found other bytes ({found})\n  hint: install the same version on \
             every node",
            env!("CARGO_PKG_VERSION")
        ))
    };
    match bytes.split_last_chunk::<CHECKSUM>() {
        Some((bytes, sum)) if crc32fast::hash(bytes).to_le_bytes() == *sum => {
            postcard::from_bytes(bytes).map_err(|error| refused(&error.to_string()))
        }
        _ => Err(refused("their checksum is wrong")),
    }
}
