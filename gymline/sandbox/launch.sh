#!/bin/sh
# Joins the control groups, bounds file sizes, mounts the root and becomes bwrap. Runs in a mount namespace of its own.
# STATE holds lower0, lower1, … (highest first) and root; for a layer also upper and work (links: an overlay option
# cannot hold every path).
# Usage: launch.sh STATE FILE_BLOCKS LOWERS tmpfs|layer CGROUP_PROCS... -- BWRAP ARG...
set -eu
cd "$1"
blocks=$2 lowers=$3 kind=$4
shift 4
while [ "$1" != -- ]; do
    echo 0 >"$1"
    shift
done
shift
ulimit -c 0
ulimit -f "$blocks"
[ "$(ulimit -f)" = "$blocks" ]
if [ "$kind" = tmpfs ]; then
    # Only mount points are made here: the command itself sees a read-only root.
    mount -t tmpfs -o size=16m,mode=755 gymline private
    mkdir private/upper private/work
    mount -t overlay -o "lowerdir=$lowers,upperdir=private/upper,workdir=private/work" gymline root
else
    mount -t overlay -o "lowerdir=$lowers,upperdir=upper,workdir=work,volatile" gymline root
fi
exec "$@"
