//! The command-line choices of a fit, and the fit they configure. The flags are the settings in the
//! table of methods.

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use lehr::infer::error::SettingError;
use lehr::infer::fit::Fit;
use lehr::infer::method::{self, METHODS, MethodInfo, SettingInfo};

/// Everything about a fit but its method; what is not given is chosen and reported.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Fitting")]
pub(crate) struct FittingArgs {
    #[command(flatten)]
    settings: Settings,
    /// Draws that the result is judged and summarised by; how many are usual depends on the method
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Where all randomness comes from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// The default number of draws of the prior.
const PRIOR_DRAWS: usize = 1000;

/// Settings of methods by name, as typed.
#[derive(Clone, Debug)]
struct Settings(Vec<(&'static str, String)>);

/// Every setting that some method has, once.
fn known_settings() -> Vec<SettingInfo> {
    let mut known: Vec<SettingInfo> = Vec::new();
    for one in METHODS.iter().flat_map(|row| row.settings()) {
        if known.iter().all(|other| other.name != one.name) {
            known.push(one);
        }
    }
    known
}

/// The flag of a setting.
fn setting_flag(setting: SettingInfo) -> Arg {
    let mut help = setting.help.chars();
    let first = help.next().into_iter().flat_map(char::to_uppercase);
    let help: String = first.chain(help).collect();
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.value)
        .help(help);
    if setting.choices.is_empty() {
        return arg;
    }
    let choices = setting.choices.into_iter();
    let choices = choices.map(|(name, help)| PossibleValue::new(name).help(help));
    arg.value_parser(PossibleValuesParser::new(choices))
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Settings, clap::Error> {
        let given = |one: SettingInfo| {
            let value = matches.get_one::<String>(one.name)?;
            Some((one.name, value.clone()))
        };
        Ok(Settings(
            known_settings().into_iter().filter_map(given).collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Settings::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        known_settings()
            .into_iter()
            .map(setting_flag)
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Settings::augment_args(command)
    }
}

impl FittingArgs {
    /// A fit by a method. Settings that the method does not have are refused.
    pub(crate) fn make_fit(&self, method: &'static MethodInfo) -> Result<Fit<'static>> {
        self.fit_with(method, &self.settings.0)
    }

    /// The number of draws and the seed. Refuses settings of methods.
    pub(crate) fn of_prior(&self) -> Result<(usize, u64)> {
        if let Some((name, _)) = self.settings.0.first() {
            return Err(anyhow!(
                "--{name}: expected no setting of a method with --prior-only, which fits nothing\n  hint: leave it out"
            ));
        }
        Ok((self.draws.unwrap_or(PRIOR_DRAWS), self.seed))
    }

    /// A fit by one of several methods: each uses the choices that apply to it.
    pub(crate) fn fit_of_many(&self, method: &'static MethodInfo) -> Result<Fit<'static>> {
        let own = method.settings();
        let concerns = |(name, _): &&(&str, String)| own.iter().any(|one| one.name == *name);
        let settings: Vec<_> = self.settings.0.iter().filter(concerns).cloned().collect();
        self.fit_with(method, &settings)
    }

    fn fit_with(
        &self,
        method: &'static MethodInfo,
        settings: &[(&'static str, String)],
    ) -> Result<Fit<'static>> {
        let mut fit = Fit::boxed((method.new)()).seed(self.seed);
        if let Some(draws) = self.draws {
            fit = fit.draws(draws);
        }
        for (name, value) in settings {
            fit.method.set(name, value).map_err(|error| match error {
                SettingError::Value { .. } => anyhow!("--{error}"),
                other => other.into(),
            })?;
        }
        Ok(fit)
    }
}

/// The methods of a list such as `mf,full-rank,sl-dais`.
pub(crate) fn find_methods(names: &[String]) -> Result<Vec<&'static MethodInfo>> {
    names.iter().map(|name| find_method(name)).collect()
}

/// The method of that name.
pub(crate) fn find_method(name: &str) -> Result<&'static MethodInfo> {
    let found = method::find(name.trim());
    found.map_err(|error| anyhow!("{error}\n  hint: lehr methods says when to choose which"))
}
