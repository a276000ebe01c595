"""Checks of a page at every width and in both themes, in one visit: overflow and rules of axe."""

from tests.browser.axe import broken_rules

PATIENCE_MS = 90_000  # a page may load slowly on two busy cores; this limit measures nothing
HEIGHT = 800
PHONE = {"width": 320, "height": HEIGHT}
DESKTOP = {"width": 1280, "height": 900}
THEMES = ("light", "dark")
SHOWN_WIDTH = "document.documentElement.scrollWidth"
# Scripts redraw after a change of width or theme before the next frame.
NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

TO_CLICK = """() => [...document.querySelectorAll('button, select, summary, input, nav a, .means.sign')]
  .filter(each => each.checkVisibility())
  .filter(each => !each.closest(`.sizes, #sizing .row, :is(#sizing, .question) .limits-row`))
  .filter(each => !each.matches(`#sizing summary, #conditions > summary`)) // headings of parts that are open in print
  .map(e => e.outerHTML.slice(0, 90))"""
CUT = """() => [...document.querySelectorAll('main table, main p, main dl')].filter(each => each.checkVisibility())
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 90))"""
SHEET = "getComputedStyle(document.body).page"
PHONE_ONLY = "[...document.querySelectorAll('.only-phone')].filter(each => each.checkVisibility()).length"

__all__ = [
    "DESKTOP",
    "PATIENCE_MS",
    "PHONE",
    "SHOWN_WIDTH",
    "broken_rules",
    "faults_of",
    "open_context",
    "print_faults_of",
]


def open_context(browser, **properties):
    """Return a new context of a browser whose pages wait long enough for two busy cores."""
    context = browser.new_context(**properties)
    context.set_default_timeout(PATIENCE_MS)
    return context


def faults_of(page, fits, accessible):
    """Return the faults of the open page by width and theme; empty if there are none.

    The page must fit windows of the widths `fits`, and break no rule in windows of the widths `accessible`, each in
    both themes. The narrowest comes first, because a page that was made narrower may overflow for a moment. The second
    theme differs from the first only in its colours, so only the rules about colour are checked in it.
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


def print_faults_of(page, width, kind):
    """Return the faults of the open page when it is printed `width` px wide: {fault: elements}; empty without faults.

    Expected: the page format that CSS names, no element to click, no cut content, and no content for phones only.
    """
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(media="print", color_scheme=THEMES[0])
    page.evaluate(NEXT_FRAME)
    sheet = page.evaluate(SHEET)
    found = {"print: to click": TO_CLICK, "print: cut": CUT, "print: shown on phones only": PHONE_ONLY}
    faults = {what: page.evaluate(script) for what, script in found.items()}
    return {what: where for what, where in faults.items() if where} | ({} if sheet == kind else {"print: kind": sheet})
