"""The canary: names that are private to Dagster are what we believe them to be."""

from __future__ import annotations

from dagster import AssetKey
from dagster._core.definitions import data_version
from dagster._core.storage import tags as storage_tags

from resources import dagster_tags as ours


def test_the_private_tag_names_of_dagster_have_not_moved() -> None:
    assert ours.DATA_VERSION == data_version.DATA_VERSION_TAG
    assert ours.DATA_VERSION_IS_USER_PROVIDED == data_version.DATA_VERSION_IS_USER_PROVIDED_TAG
    assert ours.CODE_VERSION == data_version.CODE_VERSION_TAG
    key = AssetKey("x")
    assert f"{ours.INPUT_DATA_VERSION}x" == data_version.get_input_data_version_tag(key)
    assert f"{ours.INPUT_EVENT_POINTER}x" == data_version.get_input_event_pointer_tag(key)
    assert ours.PARTITION == storage_tags.PARTITION_NAME_TAG
    assert ours.RANGE_START == storage_tags.ASSET_PARTITION_RANGE_START_TAG
    assert ours.RANGE_END == storage_tags.ASSET_PARTITION_RANGE_END_TAG
    assert ours.PRIORITY == storage_tags.PRIORITY_TAG
