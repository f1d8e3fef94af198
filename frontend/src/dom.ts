// Elements without markup strings: text only ever enters through text nodes, so no name can become a tag.

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string;

const SVG = "http://www.w3.org/2000/svg";

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, tag) as SVGElementTagNameMap[K], attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  set(element, attributes);
  element.append(...children);
  return element;
}

/** Sets attributes; false and undefined remove, true sets the bare attribute. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/** The value of a colour or length that the style sheets define, as it is now (light, dark or print). */
export function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
