//! The command line and the config file. One table describes every option; the parser and the help text share it.

use std::fs;

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Path,
    Reach,
    Stats,
    Components,
    Mst,
    Export,
    Config,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Dijkstra,
    Hops,
    Widest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Csv,
    Json,
    Dot,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub from: Option<String>,
    pub to: Option<String>,
    pub via: Vec<String>,
    pub avoid: Vec<String>,
    pub limit: Option<f64>,
    pub algorithm: Algorithm,
    pub format: Format,
    pub directed: bool,
    pub precision: usize,
    pub files: Vec<String>,
}

pub enum Invocation {
    Print(String),
    Run(Command, Options),
}

struct CommandSpec {
    command: Command,
    name: &'static str,
    summary: &'static str,
    example: &'static str,
}

const fn command(
    command: Command,
    name: &'static str,
    summary: &'static str,
    example: &'static str,
) -> CommandSpec {
    CommandSpec { command, name, summary, example }
}

#[rustfmt::skip]
const COMMANDS: &[CommandSpec] = &[
    command(Command::Path, "path", "find the best route between two nodes", "routefind path --from Lisbon --to Vienna examples/rail.txt"),
    command(Command::Reach, "reach", "list the nodes within reach of a node, with their distance", "routefind reach --from Paris --limit 8 examples/rail.txt"),
    command(Command::Stats, "stats", "print the size, degrees and weights of the graph", "routefind stats examples/rail.txt"),
    command(Command::Components, "components", "list the connected components (strong ones with --directed)", "routefind components --directed examples/links.txt"),
    command(Command::Mst, "mst", "find a minimum spanning forest, ignoring directions", "routefind mst --format csv examples/rail.txt"),
    command(Command::Export, "export", "print the graph in another format", "routefind export --format dot examples/links.txt"),
    command(Command::Config, "config", "print the settings in effect", "routefind config --config examples/oneway.conf"),
];

struct OptionSpec {
    letter: char,
    name: &'static str,
    /// Empty for a flag without a value.
    argument: &'static str,
    /// The commands that take it; empty for all.
    commands: &'static [Command],
    help: &'static str,
}

const fn option(
    letter: char,
    name: &'static str,
    argument: &'static str,
    commands: &'static [Command],
    help: &'static str,
) -> OptionSpec {
    OptionSpec { letter, name, argument, commands, help }
}

const ROUTES: &[Command] = &[Command::Path, Command::Reach];

#[rustfmt::skip]
const OPTIONS: &[OptionSpec] = &[
    option('s', "from", "NODE", ROUTES, "where the route starts (required)"),
    option('t', "to", "NODE", &[Command::Path], "where the route ends (required)"),
    option('v', "via", "NODE", &[Command::Path], "pass through NODE; may be repeated, in order"),
    option('x', "avoid", "NODE", ROUTES, "leave NODE out of the graph; may be repeated"),
    option('l', "limit", "DISTANCE", &[Command::Reach], "leave out nodes further than DISTANCE"),
    option('a', "algorithm", "NAME", &[Command::Path, Command::Reach, Command::Config], "one of: dijkstra (least total weight), hops (fewest edges), widest (largest smallest weight) (default: dijkstra)"),
    option('f', "format", "FORMAT", &[], "one of: text, csv, json, dot (default: text); dot only with export and mst"),
    option('d', "directed", "", &[], "edges lead only from the first node to the second"),
    option('p', "precision", "N", &[], "decimals of weights, 0 to 6 (default: 1)"),
    option('C', "config", "FILE", &[], "read settings from FILE; flags win over it"),
    option('h', "help", "", &[], "print this help and exit"),
];

fn help_overall() -> String {
    let mut text = String::from(
        "Usage: routefind COMMAND [OPTIONS] [FILE...]\n       routefind help [COMMAND]\n\n\
         Routes, components and spanning trees of graphs given as edge lists.\n\
         Reads standard input when no FILE is given or FILE is '-'.\n\nCommands:\n",
    );
    for spec in COMMANDS {
        text += &format!("  {:<11} {}\n", spec.name, spec.summary);
    }
    text +=
        "  help        print help for a command\n\nOptions:\n  -h, --help     print this help and exit\n  \
             -V, --version  print the version and exit\n\n\
             Exit status: 0 success, 1 unusable input or no route, 2 wrong usage.\n\
             Run 'routefind help COMMAND' or 'routefind COMMAND --help' for a command's options.\n";
    text
}

fn help_command(spec: &CommandSpec) -> String {
    let files = if spec.command == Command::Config { "" } else { " [FILE...]" };
    let mut text = format!(
        "Usage: routefind {} [OPTIONS]{files}\n\nroutefind {}: {}.\n\nOptions:\n",
        spec.name, spec.name, spec.summary
    );
    for option in options_of(spec.command) {
        let label = format!("--{} {}", option.name, option.argument);
        text += &format!("  -{}, {:<18} {}\n", option.letter, label, option.help);
    }
    text + &format!("\nExamples:\n  {}\n", spec.example)
}

fn options_of(command: Command) -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(move |option| option.commands.is_empty() || option.commands.contains(&command))
}

fn choose<T: Copy>(key: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("{key}: '{value}' is not one of: {}", names.join(", "))
    })
}

const ALGORITHMS: &[(&str, Algorithm)] =
    &[("dijkstra", Algorithm::Dijkstra), ("hops", Algorithm::Hops), ("widest", Algorithm::Widest)];
const FORMATS: &[(&str, Format)] =
    &[("text", Format::Text), ("csv", Format::Csv), ("json", Format::Json), ("dot", Format::Dot)];

pub fn name_of<T: PartialEq>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| name)
}

impl Options {
    fn new() -> Self {
        Options {
            from: None,
            to: None,
            via: Vec::new(),
            avoid: Vec::new(),
            limit: None,
            algorithm: Algorithm::Dijkstra,
            format: Format::Text,
            directed: false,
            precision: 1,
            files: Vec::new(),
        }
    }

    /// The settings a config file can hold, by key.
    pub fn settings(&self) -> [(&'static str, String); 4] {
        [
            ("algorithm", name_of(ALGORITHMS, self.algorithm).to_string()),
            ("format", name_of(FORMATS, self.format).to_string()),
            ("directed", if self.directed { "yes" } else { "no" }.to_string()),
            ("precision", self.precision.to_string()),
        ]
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "algorithm" => self.algorithm = choose(key, value, ALGORITHMS)?,
            "format" => self.format = choose(key, value, FORMATS)?,
            "directed" => self.directed = choose(key, value, &[("yes", true), ("no", false)])?,
            "precision" => {
                let precision = value.parse().ok().filter(|precision| *precision <= 6);
                self.precision =
                    precision.ok_or(format!("precision: '{value}' is not a number from 0 to 6"))?;
            }
            _ => return Err(format!("unknown key '{key}'")),
        }
        Ok(())
    }

    fn load(&mut self, path: &str) -> Result<(), Error> {
        let text = fs::read_to_string(path).map_err(|error| Error::Runtime(format!("{path}: {error}")))?;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let outcome = match line.split_once('=') {
                Some((key, value)) => self.set(key.trim(), value.trim()),
                None => Err("expected KEY = VALUE".to_string()),
            };
            outcome.map_err(|problem| Error::Runtime(format!("{path}:{}: {problem}", index + 1)))?;
        }
        Ok(())
    }

    fn apply(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "from" => self.from = Some(value),
            "to" => self.to = Some(value),
            "via" => self.via.push(value),
            "avoid" => self.avoid.push(value),
            "directed" => self.directed = true,
            "limit" => {
                let limit = value.parse().ok().filter(|limit: &f64| limit.is_finite() && *limit >= 0.0);
                self.limit = Some(limit.ok_or(format!("limit: '{value}' is not a distance"))?);
            }
            "config" | "help" => {}
            _ => self.set(name, &value)?,
        }
        Ok(())
    }
}

pub fn parse(arguments: &[String]) -> Result<Invocation, Error> {
    let find = |name: &str| {
        let found = COMMANDS.iter().find(|spec| spec.name == name);
        found.ok_or_else(|| Error::Usage(format!("unknown command '{name}'")))
    };
    let (name, rest) = arguments.split_first().ok_or_else(|| Error::Usage("no command given".to_string()))?;
    match (name.as_str(), rest.first()) {
        ("-V" | "--version", _) => {
            return Ok(Invocation::Print(format!("routefind {}\n", env!("CARGO_PKG_VERSION"))))
        }
        ("-h" | "--help", _) | ("help", None) => return Ok(Invocation::Print(help_overall())),
        ("help", Some(topic)) => return Ok(Invocation::Print(help_command(find(topic)?))),
        _ => {}
    }
    let spec = find(name)?;
    let (flags, files) = split(spec, rest)?;
    if flags.iter().any(|(option, _)| *option == "help") {
        return Ok(Invocation::Print(help_command(spec)));
    }
    let mut options = Options { files, ..Options::new() };
    // The config file first, wherever it stands, so that flags win over it.
    for (_, path) in flags.iter().filter(|(option, _)| *option == "config") {
        options.load(path)?;
    }
    for (option, value) in flags {
        options.apply(option, value).map_err(|problem| Error::Usage(format!("--{problem}")))?;
    }
    Ok(Invocation::Run(spec.command, options))
}

type Flags = Vec<(&'static str, String)>;

/// Splits arguments into options with their values, and files.
fn split(spec: &CommandSpec, arguments: &[String]) -> Result<(Flags, Vec<String>), Error> {
    let (mut flags, mut files) = (Flags::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            files.extend(rest.by_ref().cloned());
            break;
        }
        if argument == "-" || !argument.starts_with('-') {
            files.push(argument.clone());
            continue;
        }
        let (label, mut value) = match argument.split_once('=') {
            Some((label, value)) if label.starts_with("--") => (label, Some(value.to_string())),
            _ => (argument.as_str(), None),
        };
        let option = options_of(spec.command)
            .find(|option| match label.strip_prefix("--") {
                Some(name) => option.name == name,
                None => label[1..] == option.letter.to_string(),
            })
            .ok_or_else(|| Error::Usage(format!("{}: unknown option '{label}'", spec.name)))?;
        if option.argument.is_empty() && value.is_some() {
            return Err(Error::Usage(format!("--{} takes no value", option.name)));
        }
        if !option.argument.is_empty() && value.is_none() {
            value = rest.next().cloned();
            if value.is_none() {
                return Err(Error::Usage(format!("--{} needs a value: {}", option.name, option.argument)));
            }
        }
        flags.push((option.name, value.unwrap_or_default()));
    }
    Ok((flags, files))
}
