"""Recipes: one per workload. A recipe says what is sent to the host, run there and collected."""

from runners.recipes import act, prep, ycsb
from runners.recipes.base import Recipe

RECIPES: dict[str, Recipe] = {"prep": prep, act.STORAGE_RECIPE: act.STORAGE, act.INDEX_RECIPE: act.INDEX, "ycsb": ycsb}
