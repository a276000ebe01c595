"""Fewer models that Django renders while it migrates: an empty database takes a third of the processor time.

After each step, Django renders the model of the step and all models that are related to it in any number of steps; here
that is nearly every model. A step that changes the schema needs only its own model. Before code of a migration uses
models, Django renders all of them again, because such a state counts as delayed.

tests/checks/test_migrations.py migrates without this module too, and compares the schemas.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.migrations.state import ProjectState

DJANGO = {name: getattr(ProjectState, name) for name in ("add_model", "add_field", "reload_model")}


def _reload_model(self: Any, app_label: str, model_name: str, delay: bool = False) -> None:
    """Render one model, or let the next use render all models if others may depend on the change."""
    if "apps" not in self.__dict__:
        return
    if delay:
        self.is_delayed = True
        self._reload({(app_label, model_name)})
    else:
        del self.__dict__["apps"]


def _add_model(self: Any, model_state: Any) -> None:
    with _kept_apps(self):
        DJANGO["add_model"](self, model_state)
    self.reload_model(model_state.app_label, model_state.name_lower, delay=True)


def _add_field(self: Any, app_label: str, model_name: str, *rest: Any) -> None:
    with _kept_apps(self):
        DJANGO["add_field"](self, app_label, model_name, *rest)
    self.reload_model(app_label, model_name, delay=True)


@contextmanager
def _kept_apps(state: Any) -> Iterator[None]:
    """Hide the rendered models from Django, so that it renders none."""
    apps = state.__dict__.pop("apps", None)
    yield
    if apps is not None:
        state.__dict__["apps"] = apps


def install() -> None:
    """Use these functions in this process."""
    for name, function in {"add_model": _add_model, "add_field": _add_field, "reload_model": _reload_model}.items():
        setattr(ProjectState, name, function)


@contextmanager
def as_django_does() -> Iterator[None]:
    """Migrate without this module, as a register does."""
    for name, function in DJANGO.items():
        setattr(ProjectState, name, function)
    yield
    install()
