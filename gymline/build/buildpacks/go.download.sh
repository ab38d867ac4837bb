#!/usr/bin/env bash
# Online. Vendors the modules into the deps folder; a tree that vendors them itself needs nothing.
set -euo pipefail

deps=@DEPS@
export GOPATH=/tmp/go GOCACHE=/tmp/go-cache GOTOOLCHAIN=local

if [ ! -f vendor/modules.txt ] && grep -Eq '^[[:space:]]*require\b' go.mod; then
    go mod vendor -o "$deps/vendor"
fi
