#!/usr/bin/env bash
# Offline. Run in a fresh copy of the source; leaves ./executable.
set -euo pipefail

export SOURCE_DATE_EPOCH=@EPOCH@ ZERO_AR_DATE=1
export CFLAGS="-ffile-prefix-map=$PWD=." CXXFLAGS="-ffile-prefix-map=$PWD=."

# Static libraries of the tree: the program must run without its build folder.
cmake -S . -B gymline-build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF
cmake --build gymline-build --parallel @JOBS@
