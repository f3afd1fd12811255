//! Accumulators as messages to other processes.

use std::any::Any;

use serde::{Deserialize, Serialize};

use crate::accumulator::{Accumulator, Learner, LearningPass};
use crate::learning::{LevelAccumulator, ScaleAccumulator};
use crate::recognition::Recognition;
use crate::response::family_guess::FamilyGuess;

/// An accumulator that can be serialised.
#[derive(Serialize, Deserialize)]
pub enum AccumulatorMessage {
    /// Columns under a check for likely mistakes.
    Recognition(Box<LearningPass<Recognition>>),
    /// The values of a response while its family is guessed.
    Guess(Box<LearningPass<FamilyGuess>>),
    /// Levels while they are learned.
    Levels(Box<LearningPass<LevelAccumulator>>),
    /// Means and scales while they are learned.
    Scales(Box<LearningPass<ScaleAccumulator>>),
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

fn copy<P: Learner>(own: &dyn Any) -> Option<Box<LearningPass<P>>> {
    own.downcast_ref().cloned().map(Box::new)
}
