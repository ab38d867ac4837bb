#!/usr/bin/env bash
# Online. Vendors the locked crates into the deps folder, with the source replacement that points at them.
set -euo pipefail

deps=@DEPS@
export CARGO_HOME=/tmp/cargo

if [ ! -f Cargo.lock ]; then
    cargo generate-lockfile
    cp Cargo.lock "$deps/Cargo.lock"
fi
cargo vendor --locked "$deps/vendor" > "$deps/config.toml"

# Nothing vendored means nothing to keep: a lock file without crates is made again offline.
if [ -z "$(ls -A "$deps/vendor" 2>/dev/null)" ]; then
    rm -rf "$deps/vendor" "$deps/config.toml" "$deps/Cargo.lock"
fi
