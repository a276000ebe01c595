"""The path of this machine's Chromium; the tests never download a browser."""

import shutil

# The headless shell is the same engine without the windows of a desktop, which take a quarter of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
