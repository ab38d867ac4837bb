#!/bin/sh
# Runs every "$ tally ..." example of README.md and compares the output with what README.md shows below it.
# Usage: readme.sh PROGRAM README
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tool=$(basename "$1")
ln -s "$(cd "$(dirname "$1")" && pwd)/$tool" "$scratch/$tool"
PATH=$scratch:$PATH
sed -n '/^```console$/,/^```$/p' "$2" >"$scratch/expected"
while IFS= read -r line; do
    case $line in
    '```console') ;;
    '$ '*) printf '%s\n' "$line"; sh -c "${line#\$ }" 2>&1 </dev/null || true ;;
    esac
done <"$scratch/expected" >"$scratch/actual"
sed '/^```/d' "$scratch/expected" | diff -u - "$scratch/actual"
echo "README examples: $(grep -c '^\$ ' "$scratch/expected") ok"
