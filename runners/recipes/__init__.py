"""Recipes: one module per workload, saying what is sent to the host, run there and collected."""

from types import ModuleType

from runners.recipes import act_storage

RECIPES: dict[str, ModuleType] = {"act-storage": act_storage}
