"""SQL tables (SQLite by default, PostgreSQL): the projection of the record, and the ledgers people write to.

Dagster's event log is the authority. ``PartitionRecord`` and ``Cursor`` can be dropped and rebuilt from it;
``Approval`` and ``AcceptedCode`` are decisions of people and exist only here.
"""
