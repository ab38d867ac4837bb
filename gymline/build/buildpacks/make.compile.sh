#!/usr/bin/env bash
# Offline. Run in a fresh copy of the source; leaves ./executable.
set -euo pipefail

# CFLAGS is left alone: many a Makefile sets its own defaults only where the environment sets none.
export SOURCE_DATE_EPOCH=@EPOCH@ ZERO_AR_DATE=1

if [ ! -f configure ]; then
    if [ -f autogen.sh ]; then
        NOCONFIGURE=1 sh ./autogen.sh
    elif [ -f configure.ac ] || [ -f configure.in ]; then
        autoreconf --force --install
    fi
fi
if [ -f configure ]; then
    # Static libraries of the tree: the program must run without its build folder. A hand-written configure may
    # not know the option.
    sh ./configure --disable-shared || sh ./configure
fi
make -j @JOBS@
