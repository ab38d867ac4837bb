#!/bin/sh
# Steady in one command; the other tells a time that stays the same for two seconds.
case $1 in
--help | -h)
    echo "Usage: clock <command> [FILE]"
    echo
    echo "Commands:"
    echo "  steady    number the lines"
    echo "  tell      tell the time"
    ;;
steady) shift; cat -- "$@" | awk '{ print NR, $0 }' ;;
tell) echo "at $(($(date +%s) / 2)) $2" ;;
*) echo "clock: unknown command" >&2; exit 2 ;;
esac
