"""Declarative black-box test cases: format (``case.py``), in-sandbox worker, runner and score.

A case says how to invoke the program and what must come back; it holds no code. The runner takes a batch into
one sandbox, gives every case a fresh folder and its own process group, and streams results, so that one crash
never loses another case's result."""
