/** What a path leads to. */
export interface Found<T> {
  readonly target: T;
  /** What stands in the place of the template's parameter, decoded; empty when it has none. */
  readonly parameter: string;
}

interface Node<T> {
  readonly children: Map<string, Node<T>>;
  /** Where any segment leads that is not among the children. */
  parameter: Node<T> | undefined;
  target: T | undefined;
}

const PARAMETER = /^\{\w+\}$/;

/**
 * Paths, as OpenAPI writes their templates, and what each leads to. To look one up takes a step for each segment,
 * where Express would try one pattern after the other. A path is matched to the letter; a parameter is never empty.
 */
export class Routes<T> {
  readonly #root: Node<T> = newNode();

  /** @param routes templates with one parameter at most, and their targets */
  constructor(routes: readonly (readonly [template: string, target: T])[]) {
    for (const [template, target] of routes) {
      let node = this.#root;
      for (const segment of template.slice(1).split('/')) node = childOf(node, segment);
      node.target = target;
    }
  }

  /** @throws URIError when the percent-encoding of a parameter is broken or not UTF-8 */
  find(path: string): Found<T> | undefined {
    let node = this.#root;
    let parameter = '';
    for (let start = 1; start <= path.length;) {
      const slash = path.indexOf('/', start);
      const end = slash < 0 ? path.length : slash;
      const segment = path.slice(start, end);
      const child = node.children.get(segment);
      if (child !== undefined) node = child;
      else if (node.parameter !== undefined && segment !== '') {
        node = node.parameter;
        parameter = segment;
      } else return undefined;
      start = end + 1;
    }
    const { target } = node;
    if (target === undefined) return undefined;
    return { target, parameter: parameter.includes('%') ? decodeURIComponent(parameter) : parameter };
  }
}

function newNode<T>(): Node<T> {
  return { children: new Map(), parameter: undefined, target: undefined };
}

function childOf<T>(node: Node<T>, segment: string): Node<T> {
  if (PARAMETER.test(segment)) return (node.parameter ??= newNode());
  const child = node.children.get(segment) ?? newNode();
  node.children.set(segment, child);
  return child;
}
