"""Settings are frozen, changed for a while, and put back whatever happens."""

import dataclasses

import pytest

from tinytorch_gpu import settings
from tinytorch_gpu.errors import SettingsError


def test_the_defaults_count_and_replay():
    assert settings.Settings() == settings.current()
    assert settings.current().counters
    assert settings.current().replay


def test_an_override_ends_with_its_block():
    with settings.override(batch_lanes=64) as inside:
        assert settings.current() is inside
        assert inside.batch_lanes == 64
    assert settings.current().batch_lanes == settings.Settings().batch_lanes


def test_overrides_nest_and_keep_the_outer_changes():
    with settings.override(counters=False), settings.override(loop_budget=5):
        assert (settings.current().counters, settings.current().loop_budget) == (
            False,
            5,
        )
    assert settings.current() == settings.Settings()


def test_an_error_ends_an_override_too():
    with pytest.raises(KeyError), settings.override(counters=False):
        raise KeyError
    assert settings.current().counters


def test_an_unknown_name_is_refused():
    with pytest.raises(TypeError), settings.override(colour="red"):
        pass
    assert settings.current() == settings.Settings()


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.current().counters = False


@pytest.mark.parametrize("schedule", settings.SCHEDULES)
def test_every_order_is_accepted(schedule):
    with settings.override(schedule=schedule) as inside:
        assert inside.schedule == schedule


def test_an_order_that_does_not_exist_is_refused():
    with pytest.raises(SettingsError) as caught, settings.override(schedule="random"):
        pass
    assert "'random'" in caught.value.what
    assert "shuffled" in caught.value.why
    assert caught.value.schedule == "random"
    assert settings.current() == settings.Settings()
