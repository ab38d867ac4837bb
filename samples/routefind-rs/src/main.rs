//! Plans routes over graphs given as edge lists. See `options` for the command line, `graph` for the input
//! format and `commands` for what is printed.

mod commands;
mod graph;
mod options;
mod output;
mod search;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use options::Invocation;

/// A failure, with the exit status it leads to.
#[derive(Debug)]
pub enum Error {
    /// The input or a file is not usable: exit status 1.
    Runtime(String),
    /// The command line is wrong: exit status 2.
    Usage(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Runtime(message) => write!(formatter, "{message}"),
            Error::Usage(message) => write!(formatter, "{message}\nTry 'routefind --help'."),
        }
    }
}

fn run() -> Result<String, Error> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match options::parse(&arguments)? {
        Invocation::Print(text) => Ok(text),
        Invocation::Run(command, options) => commands::run(command, &options),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(text) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("routefind: cannot write output: {error}");
                ExitCode::from(1)
            }
        },
        Err(error) => {
            eprintln!("routefind: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}
