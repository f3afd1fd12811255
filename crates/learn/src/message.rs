//! Accumulators as messages to other processes.

use std::any::Any;

use serde::{Deserialize, Serialize};

use crate::accumulator::{Accumulator, Lesson, Pupil};
use crate::learning::{Levels, Scales};
use crate::recognition::Recognition;
use crate::response::guess::Guess;

/// An accumulator that can be serialised.
#[derive(Serialize, Deserialize)]
pub enum AccumulatorMessage {
    /// Columns under a check for likely mistakes.
    Recognition(Box<Lesson<Recognition>>),
    /// The values of a response while its family is guessed.
    Guess(Box<Lesson<Guess>>),
    /// Levels while they are learned.
    Levels(Box<Lesson<Levels>>),
    /// Means and scales while they are learned.
    Scales(Box<Lesson<Scales>>),
}

impl AccumulatorMessage {
    /// The message for an accumulator.
    ///
    /// # Panics
    /// If it is none of the four that have a message.
    pub fn of(accumulator: &dyn Accumulator) -> AccumulatorMessage {
        let own: &dyn Any = accumulator;
        let message = (copy(own).map(AccumulatorMessage::Recognition))
            .or_else(|| copy(own).map(AccumulatorMessage::Guess))
            .or_else(|| copy(own).map(AccumulatorMessage::Levels))
            .or_else(|| copy(own).map(AccumulatorMessage::Scales));
        message.expect("every accumulator has a message")
    }

    /// The accumulator of the message.
    pub fn accumulator(self) -> Box<dyn Accumulator> {
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
