"""Program environments: what a solver sees, the task folder around it, and how a submission is scored.

source_code.py  what counts as source code, so that none of it is handed out
docs.py         the documents and sample files a solver gets
environment.py  the task folder (Harbor's layout), scored by an oracle and by programs that do nothing
score.py        a submission's score, with ProgramBench's semantics
harbor/         the fixed texts of a task folder, verifier included
"""
