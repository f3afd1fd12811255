//! Generated tables, a scratch folder, and the command itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lehr");
/// The copy of the program that only the user `nobody` may run.
const COPY: &str = "program";
/// The user and group ids of `nobody`.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// A scratch folder in which commands run.
pub(crate) struct Scratch {
    folder: TempDir,
    /// Whether commands run as nobody, by a copy of the program in this folder.
    as_nobody: bool,
}

/// The exit code and the output of a command.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            folder: tempfile::tempdir().unwrap(),
            as_nobody: false,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A command in this folder, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        #[cfg(unix)]
        if self.as_nobody {
            command = Command::new(self.path(COPY));
            std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
            std::os::unix::process::CommandExt::gid(&mut command, NOBODY);
        }
        command.args(arguments).current_dir(self.folder.path());
        command.env("NO_COLOR", "1").env_remove("COLUMNS");
        command
    }

    /// Makes the commands run as a user who cannot open files without permission. Root can, so root
    /// gives the folder to `nobody` and runs the commands as `nobody`. Where the system does not
    /// allow that, the function prints on stderr what is skipped and returns false.
    #[cfg(unix)]
    pub(crate) fn becomes_plain(&mut self, skipped: &str) -> bool {
        use std::os::unix::fs::{PermissionsExt, lchown};
        let probe = tempfile::NamedTempFile::new().unwrap();
        let closed = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(probe.path(), closed).unwrap();
        if std::fs::File::open(probe.path()).is_err() {
            return true;
        }
        std::fs::copy(PROGRAM, self.path(COPY)).unwrap();
        self.as_nobody = true;
        let entries = std::fs::read_dir(self.path("")).unwrap();
        let inside = entries.map(|entry| entry.unwrap().path());
        let given = inside
            .chain([self.path("")])
            .all(|path| lchown(path, Some(NOBODY), Some(NOBODY)).is_ok());
        let ran = self.command(&["--version"]).output();
        let plain = given && ran.is_ok_and(|output| output.status.success());
        if !plain {
            // Written directly, because the test harness hides the output of passing tests.
            let line = format!("SKIPPED: {skipped}: this user may read and write everything\n");
            std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
        }
        plain
    }

    /// Runs a command to its end. It must not panic.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let ended = Ended::new(&self.command(arguments).output().unwrap());
        let broken = "this should not have happened";
        assert!(
            !ended.stderr.contains(broken),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(
            !ended.stderr.contains("panicked"),
            "{arguments:?}: {}",
            ended.stderr
        );
        ended
    }

    /// Runs a command that must end with this code.
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(
            ended.code,
            Some(code),
            "{arguments:?}\n{}\n{}",
            ended.stdout,
            ended.stderr
        );
        ended
    }

    /// Runs a command that judges a fit; the exit code must agree with the verdict.
    pub(crate) fn judged(&self, arguments: &[&str]) -> serde_json::Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let ended = self.run(&arguments);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let code = i32::from(json["verdict"] == "do-not-trust");
        assert_eq!(ended.code, Some(code), "{arguments:?}: {json}");
        json
    }

    /// Runs a command with `--json` and reads the answer.
    pub(crate) fn json(&self, code: i32, arguments: &[&str]) -> serde_json::Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let ended = self.expect(code, &arguments);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout))
    }
}

impl Ended {
    pub(crate) fn new(output: &Output) -> Ended {
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Uniform numbers, the same on every machine (`SplitMix64`).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// y ~ 2 + x1 − 0.5 x2 + site and hit ~ x1; color has no effect.
pub(crate) fn csv(rows: usize, seed: u64) -> String {
    let mut noise = Noise(seed);
    let mut text = String::from("y,hit,x1,x2,color,site\n");
    for row in 0..rows {
        let (x1, x2) = (noise.normal(), 10.0 * noise.normal());
        let site = row % 5;
        let y = 2.0 + x1 - 0.05 * x2 + 0.3 * (site as f64 - 2.0) + 0.5 * noise.normal();
        let hit = u8::from(noise.uniform() < 1.0 / (1.0 + (-x1).exp()));
        let color = ["blue", "green", "red"][(3.0 * noise.uniform()) as usize];
        let _ = writeln!(text, "{y},{hit},{x1},{x2},{color},s{site}");
    }
    text
}

/// Few steps, which are enough for a test from the Laplace start.
pub(crate) const QUICK: [&str; 6] = [
    "--iterations",
    "300",
    "--draws",
    "200",
    "--method",
    "full-rank",
];

/// A folder with `train.csv`, `test.csv` and `fit.lehr` of `hit ~ x1 + color + (1 | site)`, made
/// once for all tests, none of which changes it.
pub(crate) fn fitted() -> &'static Scratch {
    static FITTED: OnceLock<Scratch> = OnceLock::new();
    FITTED.get_or_init(|| {
        let scratch = Scratch::new();
        scratch.write("train.csv", &csv(400, 1));
        scratch.write("test.csv", &csv(100, 2));
        let mut arguments = vec![
            "fit",
            "hit ~ x1 + color + (1 | site)",
            "train.csv",
            "-o",
            "fit.lehr",
        ];
        arguments.extend(QUICK);
        let ended = scratch.run(&arguments);
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
        scratch
    })
}

/// The names of the files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}
