//! Accumulators as data, which other processes read.

use std::any::Any;

use serde::{Deserialize, Serialize};

use super::accumulator::{Accumulator, Lesson, Pupil};
use super::learning::{Levels, Scales};
use super::recognition::Recognition;
use super::response::guess::Guess;

/// One of all accumulators.
#[derive(Serialize, Deserialize)]
pub(crate) enum AccumulatorMessage {
    Recognition(Box<Lesson<Recognition>>),
    Guess(Box<Lesson<Guess>>),
    Levels(Box<Lesson<Levels>>),
    Scales(Box<Lesson<Scales>>),
}

impl AccumulatorMessage {
    /// An accumulator as data.
    ///
    /// # Panics
    /// If there is no message for it.
    pub(crate) fn of(accumulator: &dyn Accumulator) -> AccumulatorMessage {
        let own: &dyn Any = accumulator;
        let message = (copy(own).map(AccumulatorMessage::Recognition))
            .or_else(|| copy(own).map(AccumulatorMessage::Guess))
            .or_else(|| copy(own).map(AccumulatorMessage::Levels))
            .or_else(|| copy(own).map(AccumulatorMessage::Scales));
        message.expect("every accumulator has a message")
    }

    /// The accumulator.
    pub(crate) fn accumulator(self) -> Box<dyn Accumulator> {
        match self {
            AccumulatorMessage::Recognition(own) => own,
            AccumulatorMessage::Guess(own) => own,
            AccumulatorMessage::Levels(own) => own,
            AccumulatorMessage::Scales(own) => own,
        }
    }
}

fn copy<P: Pupil>(own: &dyn Any) -> Option<Box<Lesson<P>>> {
    own.downcast_ref().cloned().map(Box::new)
}
