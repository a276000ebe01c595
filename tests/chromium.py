"""The path of this machine's Chromium; the tests never download a browser."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
