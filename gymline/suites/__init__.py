"""A black-box test suite for a gold executable, written without a model.

``explorer.py`` learns how the program is used (``help_text.py``), collects worked examples (``readme.py``) and
input files (``inputs.py``), and tries invocations in rounds (``ideas.py``, ``values.py``), spending each round on
what showed new behaviour in the one before. What the reference answered becomes the expectation; ``checks.py``
rejects what fails on the reference, differs between runs or is passed by a program that does nothing;
``selection.py`` keeps a spread; ``suite.py`` puts it together. Budgets are counts, never clocks, so the same
program gives the same bytes.
"""
