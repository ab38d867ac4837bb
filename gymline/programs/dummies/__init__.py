"""Submissions that do nothing: each file is the compile.sh of one. A suite that gives one a point is
worthless."""
