"""What assets need from OUTSIDE: the workspace, and the traffic between batches and Dagster's event log.

Only this room knows how a Gymline record looks as a Dagster event (``dagster_tags.py``, ``events.py``).
"""
