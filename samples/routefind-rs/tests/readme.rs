//! Runs the examples of README.md and compares what they print with what README.md shows.

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_readme_shows_what_the_examples_print() {
    let program = Path::new(env!("CARGO_BIN_EXE_routefind"));
    let directory = program.parent().unwrap().display();
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap_or_default());
    let readme = include_str!("../README.md");
    let blocks: Vec<&str> = readme.split("```console\n$ ").skip(1).collect();
    assert!(blocks.len() > 5);
    for block in blocks {
        let block = block.split("```").next().unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {command} ; }} 2>&1")])
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "{command}");
    }
}

fn status(arguments: &[&str]) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_routefind"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap().status.code()
}

#[test]
fn unusable_input_exits_with_1() {
    assert_eq!(status(&["stats", "examples/absent.txt"]), Some(1));
    assert_eq!(status(&["stats", "examples/broken.txt"]), Some(1));
    assert_eq!(status(&["config", "--config", "examples/broken.conf"]), Some(1));
    assert_eq!(status(&["path", "-s", "Oslo", "-t", "Paris", "examples/rail.txt"]), Some(1));
}

#[test]
fn wrong_usage_exits_with_2() {
    assert_eq!(status(&[]), Some(2));
    assert_eq!(status(&["path", "examples/rail.txt"]), Some(2));
    assert_eq!(status(&["stats", "--format", "xml"]), Some(2));
    assert_eq!(status(&["stats", "--format", "dot", "examples/rail.txt"]), Some(2));
}
