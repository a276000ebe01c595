"""Checks of a page at every width, in both themes and on paper, in one visit."""

from tests.browser.axe import broken_rules

PATIENCE_MS = 90_000  # a page may load slowly on two busy cores; this limit measures nothing
HEIGHT = 800
WIDEST_PHONE = 390
PHONE = {"width": 320, "height": HEIGHT}
DESKTOP = {"width": 1280, "height": 900}
THEMES = ("light", "dark")
SHOWN_WIDTH = "document.documentElement.scrollWidth"
# Scripts redraw after a change of width or theme before the next frame.
NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

TO_CLICK = """() => [...document.querySelectorAll('button, select, summary, input, nav a, .means.sign')]
  .filter(each => each.checkVisibility())
  .filter(each => !each.closest(`.sizes, #sizing .row, :is(#sizing, .question) .limits-row`))
  .filter(each => !each.matches(`#sizing summary, .fold > summary`)) // headings of parts that are open in print
  .map(e => e.outerHTML.slice(0, 90))"""
CUT = """() => [...document.querySelectorAll('main table, main p, main dl')].filter(each => each.checkVisibility())
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 90))"""
WIDE = "document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth : 0"
FOLDED = """() => [...document.querySelectorAll('main details:not(.pick, .more-filters)')]
  .filter(each => each.checkVisibility() && ![...each.children].slice(1).some(child => child.checkVisibility()))
  .map(each => each.outerHTML.slice(0, 90))"""
UNDATED = """() => {
  const text = document.querySelector('.printed').innerText, {pathname} = location;
  const isDated = /State of the data: \\d+ [A-Z][a-z]+ \\d{4} \\(UTC\\)/.test(text);
  return isDated && text.includes(pathname) ? '' : text || 'nothing';
}"""
SHEET = "getComputedStyle(document.body).page"
PHONE_ONLY = "[...document.querySelectorAll('.only-phone')].filter(each => each.checkVisibility()).length"

# What only screen readers get is clipped.
IS_SHOWN = """
  const isClipped = each => each && (getComputedStyle(each).clipPath !== 'none' || isClipped(each.parentElement));
  const isShown = each => each.checkVisibility({visibilityProperty: true})
    && !each.closest('svg, option') && !isClipped(each);
"""
# WCAG 2.5.8: targets of 24 px, except links in a sentence, and marks of charts, whose links are in the tables as well.
SMALL_TARGETS = f"""() => {{
  {IS_SHOWN}
  const isInSentence = link => {{
    const sentence = link.closest('p, li, dd, figcaption, caption');
    if (!sentence || link.closest('table') || getComputedStyle(link).display !== 'inline') return false;
    const others = sentence.cloneNode(true);
    others.querySelectorAll('a').forEach(each => each.remove());
    return (others.textContent.match(/\\p{{L}}{{2,}}/gu) ?? []).length > 2;
  }};
  const isLarge = ({{width, height, right}}) => (width > 23.5 && height > 23.5) || width < 2 || right < 0;
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter(each => isShown(each) && !(each.matches('a') && isInSentence(each)))
    .filter(each => ![each, ...(each.labels ?? [])].some(part => isLarge(part.getBoundingClientRect())))
    .map(each => each.outerHTML.slice(0, 90));
}}"""
# A word is broken if its letters are in two lines.
BROKEN_WORDS = f"""() => {{
  {IS_SHOWN}
  const found = new Set(), range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {{
    const {{currentNode: text}} = texts;
    // Addresses in blocks of code break anywhere.
    if (!text.data.trim() || !isShown(text.parentElement) || text.parentElement.closest('pre')) continue;
    for (const word of text.data.matchAll(/[\\p{{L}}\\p{{N}}]{{2,}}/gu)) {{
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(({{top}}) => Math.round(top))).size > 1) found.add(word[0]);
    }}
  }}
  return [...found];
}}"""

__all__ = [
    "DESKTOP",
    "PATIENCE_MS",
    "PHONE",
    "SHOWN_WIDTH",
    "broken_rules",
    "faults_of",
    "open_context",
    "phone_faults_of",
    "print_faults_of",
]


def open_context(browser, **properties):
    """Return a new context of a browser whose pages wait long enough for two busy cores."""
    context = browser.new_context(**properties)
    context.set_default_timeout(PATIENCE_MS)
    return context


def faults_of(page, fits, accessible):
    """Return the faults of the open page by width and theme; empty if there are none.

    The page must fit windows of the widths `fits`, with whole words and large targets if they are those of a phone. It
    must break no rule in windows of the widths `accessible`. Both hold in both themes. The narrowest comes first,
    because a page that was made narrower may overflow for a moment. The second theme differs from the first only in its
    colours, so only the rules about colour are checked in it.
    """
    faults = {}
    for width in sorted({*fits, *accessible}):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.evaluate(NEXT_FRAME)
            if width in fits and (shown := page.evaluate(SHOWN_WIDTH)) > width:
                faults[f"{theme}, {width} px: wide"] = shown
            if width in fits and width <= WIDEST_PHONE and theme == THEMES[0]:
                faults |= phone_faults_of(page, width)
            if width in accessible and (broken := broken_rules(page, of_colour_only=theme != THEMES[0])):
                faults[f"{theme}, {width} px: broken"] = broken
    return faults


def phone_faults_of(page, width):
    """Return the words that are broken in the open page, and the targets that a finger misses; empty without faults."""
    found = {"broken words": page.evaluate(BROKEN_WORDS), "small targets": page.evaluate(SMALL_TARGETS)}
    return {f"{width} px: {what}": places for what, places in found.items() if places}


def print_faults_of(page, width, kind):
    """Return the faults of the open page when it is printed `width` px wide: {fault: elements}; empty without faults.

    Expected: the page format that CSS names, no element to click, no content that is cut or wider than the sheet, no
    content for phones only, no folded part, and the date of the data with the address.
    """
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(media="print", color_scheme=THEMES[0])
    page.evaluate(NEXT_FRAME)
    sheet = page.evaluate(SHEET)
    found = {
        "print: to click": TO_CLICK,
        "print: cut": CUT,
        "print: wide": WIDE,
        "print: shown on phones only": PHONE_ONLY,
        "print: folded": FOLDED,
        "print: no date or address": UNDATED,
    }
    faults = {what: page.evaluate(script) for what, script in found.items()}
    return {what: where for what, where in faults.items() if where} | ({} if sheet == kind else {"print: kind": sheet})
