"""A page in every width and both themes, in one visit: what is too wide, and which rules of axe it breaks."""

from tests.browser.axe import broken_rules

PATIENCE_MS = 90_000  # two busy cores may take long over a page; an end, and no measurement
HEIGHT = 800
PHONE = {"width": 320, "height": HEIGHT}
DESKTOP = {"width": 1280, "height": 900}
THEMES = ("light", "dark")
SHOWN_WIDTH = "document.documentElement.scrollWidth"
# What scripts draw anew on a change of width or theme they draw before the next frame.
NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

__all__ = ["DESKTOP", "PATIENCE_MS", "PHONE", "SHOWN_WIDTH", "broken_rules", "faults_of", "open_context"]


def open_context(browser, **properties):
    """Return a new context of a browser whose pages wait as long as two busy cores may take."""
    context = browser.new_context(**properties)
    context.set_default_timeout(PATIENCE_MS)
    return context


def faults_of(page, fits, accessible):
    """Return what is wrong with the page that is open: {look: what}; empty where nothing is.

    It has to fit windows of the widths `fits`, and to break no rule in windows of the widths `accessible`, each in both
    themes. From the narrowest on, since a page that was made narrower may for a moment still hold what was too wide.
    The second theme differs from the first in its colours alone, so only the rules of colour are asked of it.
    """
    faults = {}
    for width in sorted({*fits, *accessible}):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.evaluate(NEXT_FRAME)
            if width in fits and (shown := page.evaluate(SHOWN_WIDTH)) > width:
                faults[f"{theme}, {width} px: wide"] = shown
            if width in accessible and (broken := broken_rules(page, of_colour_only=theme != THEMES[0])):
                faults[f"{theme}, {width} px: broken"] = broken
    return faults
