//! The instruction sets that kernels are compiled for, and which of them a process uses.

use std::sync::OnceLock;

use pulp::Arch;

/// The environment variable that selects a level other than the widest.
const VARIABLE: &str = "LEHR_SIMD";

/// The instruction set of the kernels, named by the width of its registers. Each level sums in
/// another order, so results differ in their last bits between levels. On one level they are the
/// same on every machine and for every number of threads, except for products of large matrices,
/// which faer computes as suits the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimdLevel {
    /// One number at a time, on any machine.
    Scalar,
    /// Four numbers: x86-64 with AVX2 and fused multiply-add.
    Avx2,
    /// Eight numbers: x86-64 with AVX-512.
    Avx512,
    /// The vectors of a machine that is not x86-64.
    Native,
}

impl SimdLevel {
    const NAMED: [(SimdLevel, &'static str); 4] = [
        (SimdLevel::Scalar, "scalar"),
        (SimdLevel::Avx2, "avx2"),
        (SimdLevel::Avx512, "avx512"),
        (SimdLevel::Native, "native"),
    ];

    /// Every level that this machine supports, from the narrowest to the widest.
    pub fn all() -> Vec<SimdLevel> {
        let levels = SimdLevel::NAMED.map(|(level, _)| level).into_iter();
        levels.filter(|level| level.arch().is_some()).collect()
    }

    /// The level of this process: the one that the variable `LEHR_SIMD` names, else the widest.
    ///
    /// # Panics
    /// If the variable names no level of this machine. Programs call [`SimdLevel::from_environment`] first.
    pub fn of_process() -> SimdLevel {
        static CHOSEN: OnceLock<SimdLevel> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            SimdLevel::from_environment().unwrap_or_else(|problem| panic!("{problem}"))
        })
    }

    /// As [`SimdLevel::of_process`], but as a `Result`.
    ///
    /// # Errors
    /// If the variable names no level of this machine. The message is for the user.
    pub fn from_environment() -> Result<SimdLevel, String> {
        let asked = std::env::var(VARIABLE).ok();
        SimdLevel::from_request(asked.as_deref())
    }

    /// The dispatcher that runs kernels on the level of this process.
    ///
    /// # Panics
    /// As [`SimdLevel::of_process`].
    pub fn arch_of_process() -> Arch {
        let level = SimdLevel::of_process();
        level.arch().expect("a level of this machine")
    }

    fn from_request(asked: Option<&str>) -> Result<SimdLevel, String> {
        let all = SimdLevel::all();
        let Some(asked) = asked else {
            return Ok(*all.last().expect("one number at a time is always there"));
        };
        let named = all.iter().find(|level| level.name() == asked).copied();
        named.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|level| level.name()).collect();
            let names = names.join(", ");
            format!("{VARIABLE}: expected one of {names}, which this machine has, found {asked:?}")
        })
    }

    /// The name of the level, as the variable spells it.
    pub fn name(self) -> &'static str {
        let named = SimdLevel::NAMED.iter().find(|(level, _)| *level == self);
        named.expect("every level has a name").1
    }

    /// The dispatcher that runs kernels on this level, if the machine supports it.
    #[cfg(target_arch = "x86_64")]
    pub fn arch(self) -> Option<Arch> {
        match self {
            SimdLevel::Scalar => Some(Arch::Scalar),
            SimdLevel::Avx2 => pulp::x86::V3::try_new().map(Arch::V3),
            SimdLevel::Avx512 => pulp::x86::V4::try_new().map(Arch::V4),
            SimdLevel::Native => None,
        }
    }

    /// The dispatcher that runs kernels on this level, if the machine supports it.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn arch(self) -> Option<Arch> {
        match self {
            SimdLevel::Scalar => Some(Arch::Scalar),
            SimdLevel::Native => Some(Arch::new()),
            SimdLevel::Avx2 | SimdLevel::Avx512 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SimdLevel;

    #[test]
    fn the_widest_level_is_taken_unless_another_is_asked_for() {
        let all = SimdLevel::all();
        assert_eq!(
            SimdLevel::from_request(None).as_ref(),
            Ok(all.last().unwrap())
        );
        for level in all {
            assert_eq!(SimdLevel::from_request(Some(level.name())), Ok(level));
        }
    }

    #[test]
    fn a_level_that_the_machine_lacks_is_refused_by_name() {
        let refused = SimdLevel::from_request(Some("avx1024")).unwrap_err();
        assert!(refused.starts_with("LEHR_SIMD: expected one of scalar, "));
        assert!(refused.ends_with("found \"avx1024\""), "{refused}");
    }
}
