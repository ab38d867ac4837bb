#!/usr/bin/env bash
# The oracle: the original source with the scripts of the gold build.
set -euo pipefail
mkdir -p /workspace/src
cp -R /solution/source/. /workspace/src/
rm -rf /workspace/src/compile.sh
cp /solution/compile.sh /workspace/src/compile.sh
if [ -d /solution/deps ]; then cp -R /solution/deps /workspace/src/deps; fi
