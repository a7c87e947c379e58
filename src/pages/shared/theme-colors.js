/** Colors of theme.css, as a canvas needs them. */
export class ThemeColors {
  #probe = document.createElement('span');
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #changed = new AbortController();
  /** @type {Map<string, string>} */
  #colors = new Map();

  /** @param {HTMLElement} element element in which the colors apply */
  constructor(element) {
    this.#probe.hidden = true;
    element.append(this.#probe);
    this.onChange(() => {
      this.#colors.clear();
    });
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.#scheme.addEventListener('change', listener, { signal: this.#changed.signal });
  }

  destroy() {
    this.#changed.abort();
    this.#probe.remove();
  }

  /** @param {string} name */
  color(name) {
    return this.#computed(`var(${name})`);
  }

  /** @param {string} name */
  tint(name) {
    return this.#computed(`color-mix(in srgb, var(${name}) 12%, transparent)`);
  }

  /** @param {string} value */
  #computed(value) {
    let color = this.#colors.get(value);
    if (color === undefined) {
      this.#probe.style.color = value;
      color = getComputedStyle(this.#probe).color;
      this.#colors.set(value, color);
    }
    return color;
  }
}
