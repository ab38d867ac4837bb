#!/bin/sh
# Prints its arguments.
printf "%s\n" "$*"
