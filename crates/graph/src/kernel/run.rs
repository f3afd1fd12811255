//! Runs the phases of a plan: once or per block of lanes, row loops in strips.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::execute::execute_instruction;
pub(crate) use super::frame::BlockFrame;
use super::reduce;
use crate::instruction::{Instruction, PhaseStep, PlanPhase, RowAccumulator, RowLoop, Space};

/// Work below this many flops is done by one thread.
const WORTH_THREADS: u64 = 400_000;

/// A workspace as the interpreter sees it. Frames differ only in lanes and scratch.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) frame: BlockFrame,
    pub(crate) lanes: usize,
    pub(crate) lane_block: usize,
    /// Numbers of scratch per strip, and strips per lane block.
    pub(crate) scratch: (usize, usize),
}

impl Machine {
    /// The frame of a block of lanes.
    fn lane_frame(&self, block: usize) -> BlockFrame {
        let first = block * self.lane_block;
        let mut frame = self.frame;
        frame.first_lanes[Space::Pinned.index()] = first;
        frame.lanes = self.lane_block.min(self.lanes - first);
        frame.bases[1] = frame.bases[1].wrapping_add(block * frame.lane_blocks.0);
        let scratch = self.scratch.0 * self.scratch.1;
        frame.bases[3] = frame.bases[3].wrapping_add(block * scratch);
        frame
    }

    /// Runs all phases.
    pub(crate) fn run_phases(&self, arch: Arch, phases: &[PlanPhase]) {
        for phase in phases {
            if !phase.laned {
                self.run_steps(arch, phase, self.frame);
                continue;
            }
            let blocks = self.frame.lane_blocks.1;
            let one = |block: usize| self.run_steps(arch, phase, self.lane_frame(block));
            if blocks > 1 && worth_threads(phase.flops.saturating_mul(self.lanes as u64)) {
                (0..blocks).into_par_iter().with_max_len(1).for_each(one);
            } else {
                (0..blocks).for_each(one);
            }
        }
    }

    fn run_steps(&self, arch: Arch, phase: &PlanPhase, frame: BlockFrame) {
        for step in &phase.steps {
            match step {
                PhaseStep::Block(list) => arch.dispatch(InstructionList { list, frame }),
                PhaseStep::Lanes { group, list } => {
                    for first in (0..frame.lanes).step_by(*group) {
                        let frame = frame.of_lanes(first, *group);
                        arch.dispatch(InstructionList { list, frame });
                    }
                }
                PhaseStep::Rows(rows) => run_rows(arch, rows, frame, self.scratch.0),
            }
        }
    }
}

/// Whether any part of the phases would run on several threads.
pub(crate) fn has_parts(phases: &[PlanPhase], lanes: usize, blocks: usize) -> bool {
    let worth = |flops: u64| is_much(flops.saturating_mul(lanes as u64));
    let strips = |step: &PhaseStep| match step {
        PhaseStep::Rows(rows) => rows.strips > 1 && worth(rows.flops),
        PhaseStep::Block(_) | PhaseStep::Lanes { .. } => false,
    };
    phases.iter().any(|phase| {
        phase.laned && blocks > 1 && worth(phase.flops) || phase.steps.iter().any(strips)
    })
}

fn worth_threads(flops: u64) -> bool {
    is_much(flops) && rayon::current_num_threads() > 1
}

fn is_much(flops: u64) -> bool {
    flops > WORTH_THREADS
}

/// Instructions one after another. The interpreter is compiled for each instruction set only here.
struct InstructionList<'a> {
    list: &'a [Instruction],
    frame: BlockFrame,
}

impl WithSimd for InstructionList<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for instruction in self.list {
            #[cfg(debug_assertions)]
            super::limit::check_instruction(&self.frame, instruction);
            // SAFETY: the frame belongs to the plan of these instructions.
            unsafe { execute_instruction(simd, &self.frame, instruction) };
        }
    }
}

/// One strip of a row loop: its blocks one after another into its own accumulators.
fn run_strip(arch: Arch, rows: &RowLoop, mut frame: BlockFrame, strip: usize) {
    let blocks = rows.rows.div_ceil(rows.block);
    for tail in &rows.tails {
        let count = frame.extent_count(tail.size);
        #[cfg(debug_assertions)]
        super::limit::check_run(&frame, tail.strip, count);
        // SAFETY: the strip's own accumulator.
        unsafe { std::slice::from_raw_parts_mut(frame.pointer_at(tail.strip), count) }
            .fill(tail.by.start_value());
    }
    for b in strip * blocks / rows.strips..(strip + 1) * blocks / rows.strips {
        frame.block = b;
        frame.rows = rows.block.min(rows.rows - b * rows.block);
        let list = &rows.body;
        arch.dispatch(InstructionList { list, frame });
    }
}

fn strip_frame(frame: BlockFrame, scratch: usize, strip: usize) -> BlockFrame {
    let mut frame = frame;
    frame.bases[3] = frame.bases[3].wrapping_add(strip * scratch);
    frame
}

/// All strips, in parallel if that pays, then their totals in order.
fn run_rows(arch: Arch, rows: &RowLoop, frame: BlockFrame, scratch: usize) {
    let one = |strip: usize| {
        run_strip(arch, rows, strip_frame(frame, scratch, strip), strip);
    };
    if rows.strips > 1 && worth_threads(rows.flops.saturating_mul(frame.lanes as u64)) {
        (0..rows.strips)
            .into_par_iter()
            .with_max_len(1)
            .for_each(one);
    } else {
        (0..rows.strips).for_each(one);
    }
    for tail in &rows.tails {
        arch.dispatch(StripTotal {
            tail,
            frame,
            scratch,
            strips: rows.strips,
        });
    }
}

/// The sum of the strips' accumulators.
struct StripTotal<'a> {
    tail: &'a RowAccumulator,
    frame: BlockFrame,
    scratch: usize,
    strips: usize,
}

impl WithSimd for StripTotal<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let count = self.frame.extent_count(self.tail.size);
        #[cfg(debug_assertions)]
        super::limit::check_run(&self.frame, self.tail.total, count);
        // SAFETY: accumulators and total hold `count` numbers each and are disjoint.
        unsafe {
            let total = self.frame.pointer_at(self.tail.total);
            std::ptr::copy_nonoverlapping(self.frame.pointer_at(self.tail.strip), total, count);
            for strip in 1..self.strips {
                let part = strip_frame(self.frame, self.scratch, strip).pointer_at(self.tail.strip);
                reduce::join(simd, self.tail.by, total, part, count);
            }
        }
    }
}
