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
  const MARK = 'data-contrast-is-checked';
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
  const shown = ofEachKind();
  shown.forEach(element => element.setAttribute(MARK, ''));
  axe.configure({rules: [{id: 'color-contrast', selector: `[${MARK}]`}]});
  // One run for all rules, because each run searches anew which elements overlap.
  const rules = isOfColourOnly ? {runOnly: ['color-contrast', 'link-in-text-block']} : {};
  const {violations} = await axe.run(document, {resultTypes: ['violations'], ...rules});
  shown.forEach(element => element.removeAttribute(MARK));
  return violations;
}"""


def broken_rules(page, of_colour_only=False):
    """Return the rules of axe that a page breaks, each with one or two elements of each kind."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.axe_script)
    found = page.evaluate(BROKEN, of_colour_only)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]
