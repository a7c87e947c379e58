/**
 * Values by text, of which those are kept that were asked for or set lately: at least so many as wanted, and fewer than
 * twice as many.
 */
export class RecentValues<V> {
  readonly #wanted: number;
  #recent = new Map<string, V>();
  /** Those of before: the ones that nobody asks for until `#recent` is full again are forgotten together. */
  #earlier = new Map<string, V>();

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get(text: string): V | undefined {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const earlier = this.#earlier.get(text);
    if (earlier !== undefined) this.set(text, earlier);
    return earlier;
  }

  set(text: string, value: V): void {
    if (this.#recent.size >= this.#wanted) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, value);
  }
}
