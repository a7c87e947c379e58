/** What a path leads to. */
export interface Found<T> {
  readonly target: T;
  /** What stands in the place of the template's parameter, decoded; empty when it has none. */
  readonly parameter: string;
}

interface Route<T> {
  /** What stands before the parameter; all of it when there is none. */
  readonly before: string;
  /** What stands after it; undefined when there is none. */
  readonly after: string | undefined;
  readonly target: T;
}

/** A path that has a parameter, or has none. */
const TEMPLATE = /^([^{}]*)(?:\{\w+\}([^{}]*))?$/;

/**
 * Paths, as OpenAPI writes their templates, and what each leads to. A path is matched to the letter, by comparing its
 * beginning and its end; a parameter is never empty. Express would try one pattern after the other, which takes as
 * long as to find the record that is asked for.
 */
export class Routes<T> {
  readonly #routes: readonly Route<T>[];

  /** @param routes templates with one parameter at most, and their targets */
  constructor(routes: readonly (readonly [template: string, target: T])[]) {
    this.#routes = routes.map(([template, target]) => {
      const parts = TEMPLATE.exec(template);
      if (parts === null) throw new TypeError(`${template} has more than one parameter`);
      return { before: parts[1], after: parts.at(2), target };
    });
  }

  /** @throws URIError when the percent-encoding of a parameter is broken or not UTF-8 */
  find(path: string): Found<T> | undefined {
    for (const { before, after, target } of this.#routes) {
      if (after === undefined) {
        if (path === before) return { target, parameter: '' };
      } else if (path.startsWith(before) && path.endsWith(after)) {
        const parameter = path.slice(before.length, path.length - after.length);
        if (parameter === '' || parameter.includes('/')) continue;
        return { target, parameter: parameter.includes('%') ? decodeURIComponent(parameter) : parameter };
      }
    }
    return undefined;
  }
}
