#!/bin/sh
# Steady in one command; the others tell the process id, the time, a random number, the environment or the date.
case $1 in
--help | -h)
    echo "Usage: unsteady <command> [FILE]"
    echo
    echo "Commands:"
    echo "  steady    number the lines"
    echo "  pid       tell the process id"
    echo "  clock     tell the time"
    echo "  chance    tell a random number"
    echo "  around    tell the environment"
    echo "  today     tell the date"
    echo "  leave     write the time to a file"
    ;;
steady) shift; cat -- "$@" | awk '{ print NR, $0 }' ;;
pid) echo "pid $$" ;;
clock) echo "at $(date +%s%N)" ;;
chance) od -An -N4 -tu4 /dev/urandom ;;
around) env | sort ;;
today) echo "today is $(date +%Y-%m-%d)" ;;
leave) date +%s%N >out.txt; echo written ;;
*) echo "unsteady: unknown command" >&2; exit 2 ;;
esac
