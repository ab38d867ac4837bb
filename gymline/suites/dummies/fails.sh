#!/bin/sh
# Does nothing and fails.
exit 1
