"""Every tag name of Dagster's that we write or read, in one place.

Those under ``dagster/`` are private to Dagster; ``tests/resources/test_dagster_tags.py`` is the canary that fails
when an upgrade renames one.
"""

DATA_VERSION = "dagster/data_version"
DATA_VERSION_IS_USER_PROVIDED = "dagster/data_version_is_user_provided"
CODE_VERSION = "dagster/code_version"
INPUT_DATA_VERSION = "dagster/input_data_version/"
INPUT_EVENT_POINTER = "dagster/input_event_pointer/"
PARTITION = "dagster/partition"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
PRIORITY = "dagster/priority"

OUTCOME = "gymline/outcome"
WHOLE_SOURCE = "gymline/whole_source"
LINEAGE = "gymline/lineage"
"""On a run: who asked for it (``nightly``, ``layer``, ``cli``)."""
CAMPAIGN = "gymline/campaign"
"""On a run: the night (or other request) it belongs to; within one, no key is tried twice."""
PROCESS = "gymline/process"
"""On a run executed inside a command-line process: ``host:pid:start ticks``, to tell a killed one."""
