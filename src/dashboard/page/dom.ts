/** A page as a function of what is known: elements are described, and the document is changed only where it differs. */

/** An element as it should be. */
export interface Described {
  readonly tag: string;
  readonly key?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly on: Readonly<Record<string, (event: Event) => void>>;
  readonly children: readonly Child[];
}

export type Child = Described | string;

type Given = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** Describes an element. Functions are listeners (`click`), `true` is an attribute without a value, `false` and undefined are none. */
export function h(tag: string, given: Given = {}, ...children: readonly (Child | readonly Child[] | undefined | false)[]): Described {
  const attributes: Record<string, string> = {};
  const on: Record<string, (event: Event) => void> = {};
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") on[name] = value as (event: Event) => void;
    else if (value === true) attributes[name] = "";
    else if (value !== undefined && value !== false) attributes[name] = String(value);
  }
  const { key, ...rest } = attributes;
  const described = children.flat().filter((child): child is Child => child !== undefined && child !== false);
  return { tag, ...(key !== undefined && { key }), attributes: rest, on, children: described };
}

const drawn = new WeakMap<Node, Described>();
const svgTags = new Set(["svg", "path", "g", "rect", "circle", "line", "text", "title", "polyline"]);

/** Makes the children of an element what is described. Elements are kept by their key, else by their place. */
export function draw(parent: Element, children: readonly Child[]): void {
  const old = new Map<string, ChildNode>();
  const plain: ChildNode[] = [];
  for (const node of [...parent.childNodes]) {
    const key = drawn.get(node)?.key;
    if (key === undefined) plain.push(node);
    else old.set(key, node);
  }
  const wanted: ChildNode[] = [];
  for (const child of children) {
    const known = typeof child !== "string" && child.key !== undefined ? old.get(child.key) : plain.shift();
    const node = known !== undefined && fits(known, child) ? known : make(child);
    update(node, child);
    wanted.push(node);
  }
  const kept = new Set(wanted);
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  wanted.forEach((node, place) => {
    if (parent.childNodes[place] !== node) parent.insertBefore(node, parent.childNodes[place] ?? null);
  });
}

function fits(node: ChildNode, child: Child): boolean {
  return typeof child === "string" ? node.nodeType === Node.TEXT_NODE : drawn.get(node)?.tag === child.tag;
}

function make(child: Child): ChildNode {
  if (typeof child === "string") return document.createTextNode("");
  return svgTags.has(child.tag) ? document.createElementNS("http://www.w3.org/2000/svg", child.tag) : document.createElement(child.tag);
}

function update(node: ChildNode, child: Child): void {
  if (typeof child === "string") {
    if (node.nodeValue !== child) node.nodeValue = child;
    return;
  }
  const element = node as Element;
  const before = drawn.get(element);
  for (const name of Object.keys(before?.attributes ?? {})) if (!(name in child.attributes)) element.removeAttribute(name);
  for (const [name, value] of Object.entries(child.attributes)) {
    if (before?.attributes[name] === value) continue;
    // The policy of the page forbids styles in attributes; set by script they are ours.
    if (name === "style") (element as HTMLElement).style.cssText = value;
    else element.setAttribute(name, value);
    // What is written in a field is a property of its own once somebody has typed.
    if (name === "value" && element instanceof HTMLInputElement) element.value = value;
  }
  if (before === undefined) {
    const names = Object.keys(child.on);
    for (const name of names) element.addEventListener(name, (event) => drawn.get(element)?.on[name]?.(event));
  }
  drawn.set(element, child);
  draw(element, child.children);
}
