//! One named array of a model.

use lehr_graph::Shape;
use serde::{Deserialize, Serialize};

use crate::Support;

/// A named array on the scale of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The name, unique within its layout.
    pub name: String,
    /// The dimensions of the constrained value.
    pub dims: Vec<usize>,
    /// The support of the value.
    pub support: Support,
    /// A starting value, in row-major order on the constrained scale.
    pub start: Option<Vec<f64>>,
}

impl Site {
    /// A site without a start.
    pub fn new(name: &str, shape: impl Into<Shape>, support: Support) -> Site {
        Site {
            name: name.to_owned(),
            dims: shape.into().dims().to_vec(),
            support,
            start: None,
        }
    }

    /// The site with a start on the constrained scale.
    #[must_use]
    pub fn with_start(mut self, start: &[f64]) -> Site {
        self.start = Some(start.to_vec());
        self
    }

    /// The shape of the constrained value.
    pub fn shape(&self) -> Shape {
        Shape::new(&self.dims)
    }

    /// The name of each number: `scale` alone, `weight[3]`, `L[1,2]`; places count from 0.
    pub fn entry_names(&self) -> Vec<String> {
        if self.dims.is_empty() {
            return vec![self.name.clone()];
        }
        let entry = |flat: usize| format!("{}[{}]", self.name, self.index_of(flat).join(","));
        (0..self.shape().size()).map(entry).collect()
    }

    fn index_of(&self, flat: usize) -> Vec<String> {
        let mut rest = flat;
        let mut place: Vec<String> = (self.dims.iter().rev())
            .map(|&length| {
                let here = rest % length;
                rest /= length;
                here.to_string()
            })
            .collect();
        place.reverse();
        place
    }
}
