//! `drivetest agent`: fetches the requests of a register and carries them out; `drivetest agent join` makes this host
//! known to a register.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_agent::{AgentError, Ended, Join, Joined, Messages, Places, Start};
use drivetest_load::signals::Signals;

use crate::output::{EXIT_ERROR, EXIT_REFUSED, EXIT_USAGE, fail, print_and_exit, print_diagnostic};

/// Arguments of `agent`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory above all files of the agent, for tests
    #[arg(long, value_name = "DIR", global = true, hide = true, default_value = "/")]
    root: PathBuf,
    #[command(subcommand)]
    command: Option<AgentCommand>,
}

/// The commands of `agent`.
#[derive(clap::Subcommand)]
enum AgentCommand {
    /// Make this host known to a register with a one-time code, and install the agent as a service.
    ///
    /// The page of the host at the register shows the code. The command generates the secret of this host, installs
    /// drivetest as /usr/local/sbin/drivetest, and starts the service drivecert-agent. It may be repeated with the same code.
    /// It lists no drive: until the operator does, the register can overwrite nothing.
    Join(JoinArgs),
}

/// Arguments of `agent join`.
#[derive(clap::Args)]
struct JoinArgs {
    /// Address of the register, which begins with https://
    #[arg(value_name = "REGISTER")]
    register: String,
    /// One-time code that the register shows on the page of the host
    #[arg(value_name = "CODE")]
    code: String,
    /// File with the only certificates to trust, in PEM format [default: those of this host or of SSL_CERT_FILE, or else
    /// those of Mozilla]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Do not install the service of systemd; the operator starts `drivetest agent`
    #[arg(long)]
    no_service: bool,
}

const MESSAGES: Messages = Messages {
    line: |line| print_diagnostic(&line),
    retry: |error, wait| print_diagnostic(&format_args!("{error}; next attempt in {} s", wait.as_secs())),
};

impl Args {
    /// Runs the agent, or joins a register.
    pub fn run(self) -> ExitCode {
        let places = Places::new(&self.root);
        let result = match self.command {
            Some(AgentCommand::Join(join)) => join.execute(&places),
            None => run_agent(&places),
        };
        result.unwrap_or_else(|error| {
            print_diagnostic(&error);
            ExitCode::from(match error {
                AgentError::Usage(_) => EXIT_USAGE,
                AgentError::Refused(_) => EXIT_REFUSED,
                AgentError::Failed(_) => EXIT_ERROR,
            })
        })
    }
}

fn run_agent(places: &Places) -> Result<ExitCode, AgentError> {
    let signals = match Signals::watch() {
        Ok(signals) => signals,
        Err(error) => return Ok(fail(&format_args!("signals cannot be received: {error}"))),
    };
    Ok(match drivetest_agent::run(places, signals, MESSAGES)? {
        Ended::Signal => ExitCode::SUCCESS,
        Ended::Revoked(sentence) => {
            print_diagnostic(&format_args!(
                "the register has revoked this host: {sentence}; to join again, print a new command on the page of the host"
            ));
            ExitCode::from(EXIT_REFUSED)
        }
    })
}

impl JoinArgs {
    fn execute(&self, places: &Places) -> Result<ExitCode, AgentError> {
        let join = Join {
            register: &self.register,
            code: &self.code,
            ca_file: self.ca_file.as_deref(),
            has_service: !self.no_service,
            places,
            messages: MESSAGES,
        };
        let joined = join.execute()?;
        Ok(print_and_exit(&text(&joined, places), 0))
    }
}

fn text(joined: &Joined, places: &Places) -> String {
    let (program, host_file) = (places.program(), places.host_file());
    let (program, host_file) = (program.display(), host_file.display());
    let start = match joined.start {
        Start::Running => "The service drivecert-agent runs.".to_owned(),
        Start::UnitInstalled => format!(
            "systemd does not run the agent. Start it: {program} agent, or systemctl enable --now drivecert-agent"
        ),
        Start::ByHand => format!("Start the agent: {program} agent"),
    };
    format!(
        "This host is {} ({}) at {}.\n{start}\n\
         List the drives that the register may overwrite in {host_file}; `drivetest identify` prints their keys:\n\
         \x20 drives = [\n    \"nvme:MODEL:SERIAL\",\n  ]\n",
        joined.host, joined.agent, joined.register
    )
}

/// Arguments of `host`.
#[derive(clap::Args)]
pub struct HostArgs {
    /// Directory above the settings, for tests. The sudo rule of a lab host allows no argument
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    root: PathBuf,
}

impl HostArgs {
    /// Returns the settings file of the operator.
    pub fn settings_file(&self) -> PathBuf {
        Places::new(Path::new(&self.root)).host_file()
    }
}
