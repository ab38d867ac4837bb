#!/usr/bin/env bash
# Offline. Run in a fresh copy of the source; leaves ./executable.
set -euo pipefail

deps=@DEPS@
export GOPATH=/tmp/go GOCACHE=/tmp/go-cache GOTOOLCHAIN=local
export GOFLAGS='-trimpath -buildvcs=false' GOPROXY=off CGO_ENABLED=0

if [ -d "$deps/vendor" ]; then cp -R "$deps/vendor" vendor; fi
if [ -f vendor/modules.txt ]; then export GOFLAGS="$GOFLAGS -mod=vendor"; fi

# Each main package under its own path, so that two of one name do not overwrite each other.
go list -f '{{if eq .Name "main"}}{{.Dir}}{{end}}' ./... | sort > /tmp/mains
while read -r dir; do
    package=.${dir#"$PWD"}
    case "$package/" in
        */example/* | */examples/* | */_examples/* | */test/* | */tests/* | */testdata/* | */scripts/*) continue ;;
    esac
    mkdir -p "gymline-build/$package"
    go build -p @JOBS@ -ldflags=-buildid= -o "gymline-build/$package/" "$package"
done < /tmp/mains
