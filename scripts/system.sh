#!/usr/bin/env bash
# Installs the Debian packages Gymline needs, when root; otherwise says which are missing.
set -euo pipefail

declare -A needed=(
  [bwrap]=bubblewrap
  [debootstrap]=debootstrap
  [git]=git
  [chromium]=chromium
  [pg_ctlcluster]=postgresql
)
missing=()
for command in "${!needed[@]}"; do
  command -v "$command" >/dev/null || missing+=("${needed[$command]}")
done
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
((${#missing[@]})) || exit 0

if [[ $(id -u) != 0 ]]; then
  printf 'Install these Debian packages first (chromium and postgresql only for tests):\n  apt-get install %s\n' \
    "${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
