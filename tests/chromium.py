"""Where this machine's Chromium is; no browser is ever downloaded by the tests."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
