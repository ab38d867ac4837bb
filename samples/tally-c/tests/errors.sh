#!/bin/sh
# Exit statuses: 1 for unusable files and content, 2 for wrong usage.
# Usage: errors.sh PROGRAM
set -u
tally=$1
failed=0
expect() {
    wanted=$1
    shift
    "$@" >/dev/null 2>&1 </dev/null
    status=$?
    [ "$status" -eq "$wanted" ] && return
    echo "status $status, expected $wanted: $*"
    failed=1
}

expect 0 "$tally" sum examples/empty.csv
expect 0 "$tally" cut -c 2,1 -- examples/sales.csv
expect 0 "$tally" sum -sc qty examples/ragged.csv
expect 1 "$tally" sum -c qty examples/ragged.csv
expect 1 "$tally" sum -c 9 examples/sales.csv
expect 1 "$tally" sum examples/absent.csv
expect 1 "$tally" config -C examples/broken.conf
expect 2 "$tally"
expect 2 "$tally" cut examples/sales.csv
expect 2 "$tally" shuffle
expect 2 "$tally" sort --format yaml examples/sales.csv
expect 2 "$tally" freq --top
exit $failed
