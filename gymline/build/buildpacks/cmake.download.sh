#!/usr/bin/env bash
# Online. Nothing to fetch: the libraries are the rootfs's.
set -euo pipefail
