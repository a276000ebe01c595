"""Checks of the open page against the accessibility rules of axe."""

from axe_playwright_python.sync_playwright import Axe

AXE = Axe()
# axe measures the contrast of every cell, which takes most of its time on a table of some hundred cells.
# It gets only the first and the last visible element of each kind. Elements are of one kind if their styles,
# those of their ancestors and those of overlapping elements are equal. All other rules get the whole page.
BROKEN = r"""async isOfColourOnly => {
  const LOOK = [
    'color', 'backgroundColor', 'backgroundImage', 'opacity', 'fontSize', 'fontWeight', 'fontStyle', 'textShadow',
    'position', 'zIndex', 'visibility', 'mixBlendMode', 'filter', 'webkitTextFillColor', 'webkitTextStrokeWidth',
    'fill',
  ];
  const numbers = new Map(), kinds = new Map([[null, 0]]);
  const numberOf = label => {
    if (!numbers.has(label)) numbers.set(label, numbers.size + 1);
    return numbers.get(label);
  };
  const placedIn = element => [...element.children].filter(child => getComputedStyle(child).position !== 'static')
    .map(child => `${child.localName}.${child.getAttribute('class')}`);
  const kindOf = element => {
    if (!kinds.has(element)) {
      const style = getComputedStyle(element), own = LOOK.map(name => style[name]);
      const place = [kindOf(element.parentElement), element.localName, element.getAttribute('class'), element.disabled];
      kinds.set(element, numberOf([...place, ...own, ...placedIn(element)].join('|')));
    }
    return kinds.get(element);
  };
  const hasText = element => element.matches('input, select, textarea, button')
    || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const ofEachKind = () => {
    const first = new Map(), last = new Map();
    for (const element of document.body.querySelectorAll('*')) {
      if (!hasText(element) || !element.checkVisibility({visibilityProperty: true})) continue;
      const kind = kindOf(element);
      if (!first.has(kind)) first.set(kind, element);
      last.set(kind, element);
    }
    return [...new Set([...first.values(), ...last.values()])];
  };
  const run = (context, options) => axe.run(context, {resultTypes: ['violations'], ...options})
    .then(results => results.violations);
  const shown = ofEachKind();
  const contrast = shown.length ? await run({include: shown}, {runOnly: ['color-contrast']}) : [];
  const others = isOfColourOnly ? {runOnly: ['link-in-text-block']} : {rules: {'color-contrast': {enabled: false}}};
  return [...contrast, ...await run(document, others)];
}"""


def broken_rules(page, of_colour_only=False):
    """Return the rules of axe that a page breaks, each with one or two elements of each kind."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.axe_script)
    found = page.evaluate(BROKEN, of_colour_only)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]
