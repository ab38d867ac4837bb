#!/bin/sh
# A small, steady program: numbers or upper-cases lines.
usage() {
    echo "Usage: wordy <command> [options] [FILE]"
    echo
    echo "Commands:"
    echo "  number    number the lines"
    echo "  shout     upper-case the lines"
    echo "  count     count lines and words"
    echo
    echo "Options:"
    echo "  -s, --start N        first number (default: 1)"
    echo "      --sep WORD       one of: dot, colon"
    echo "  -h, --help           show this help"
}
command=$1
[ $# -gt 0 ] && shift
start=1
sep=" "
case $command in -h | --help | help) usage; exit 0 ;; esac
while [ $# -gt 0 ]; do
    case $1 in
    -s | --start) start=$2; shift 2 || exit 2 ;;
    --sep)
        case $2 in dot) sep=. ;; colon) sep=: ;; *) echo "wordy: bad separator" >&2; exit 2 ;; esac
        shift 2 ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "wordy: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
if [ $# -gt 0 ] && [ ! -f "$1" ]; then
    echo "wordy: $1: no such file" >&2
    exit 1
fi
case $command in
number) cat -- "$@" | awk -v n="$start" -v s="$sep" '{ print n++ s $0 }' ;;
shout) cat -- "$@" | tr 'a-z' 'A-Z' ;;
count) cat -- "$@" | awk -v s="$sep" '{ w += NF } END { print NR s w + 0 }' ;;
*) echo "wordy: unknown command" >&2; exit 2 ;;
esac
