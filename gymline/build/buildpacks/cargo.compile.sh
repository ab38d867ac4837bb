#!/usr/bin/env bash
# Offline. Run in a fresh copy of the source; leaves ./executable.
set -euo pipefail

deps=@DEPS@
export CARGO_HOME=/tmp/cargo
export SOURCE_DATE_EPOCH=@EPOCH@
export RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=$deps=deps --remap-path-prefix=$CARGO_HOME=cargo"

mkdir -p "$CARGO_HOME"
if [ -f "$deps/config.toml" ]; then cp "$deps/config.toml" "$CARGO_HOME/config.toml"; fi
if [ -f "$deps/Cargo.lock" ]; then cp "$deps/Cargo.lock" Cargo.lock; fi
cargo build --release --offline --jobs @JOBS@ --target-dir target
