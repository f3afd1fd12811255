//! Accumulators as messages to other processes.

use std::any::Any;

use serde::{Deserialize, Serialize};

use super::accumulator::{Accumulator, Lesson, Pupil};
use super::learning::{Levels, Scales};
use super::recognition::Recognition;
use super::response::guess::Guess;

/// An accumulator that can be serialised.
#[derive(Serialize, Deserialize)]
pub(crate) enum AccumulatorMessage {
    Recognition(Box<Lesson<Recognition>>),
    Guess(Box<Lesson<Guess>>),
    Levels(Box<Lesson<Levels>>),
    Scales(Box<Lesson<Scales>>),
}

impl AccumulatorMessage {
    /// The message for an accumulator.
    ///
    /// # Panics
    /// If it is none of the four that have a message.
    pub(crate) fn of(accumulator: &dyn Accumulator) -> AccumulatorMessage {
        let own: &dyn Any = accumulator;
        let message = (copy(own).map(AccumulatorMessage::Recognition))
            .or_else(|| copy(own).map(AccumulatorMessage::Guess))
            .or_else(|| copy(own).map(AccumulatorMessage::Levels))
            .or_else(|| copy(own).map(AccumulatorMessage::Scales));
        message.expect("every accumulator has a message")
    }

    /// The accumulator of the message.
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
