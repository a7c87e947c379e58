import { html, svg } from 'lit-html';

/** Small pictures of states and shares. Each state has a shape and a word beside its color. */

/** @typedef {'good' | 'warn' | 'bad' | 'off'} Tone */

const SHAPES = {
  good: svg`<circle cx="8" cy="8" r="7" /><path d="M4.8 8.3l2.2 2.2 4.2-4.6" />`,
  warn: svg`<path class="body" d="M8 1.2 15.2 14.4H.8z" /><path d="M8 6v4M8 12v.6" />`,
  bad: svg`<rect class="body" x="1" y="1" width="14" height="14" rx="3" /><path d="M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6" />`,
  off: svg`<circle cx="8" cy="8" r="6" class="hollow" />`,
};

/**
 * @param {Tone} tone
 */
export function icon(tone) {
  return html`<svg class="icon ${tone}" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[tone]}</svg>`;
}

/**
 * Returns a word with the shape of its state.
 * @param {Tone} tone
 * @param {string} text
 */
export function badge(tone, text) {
  return html`<span class="badge ${tone}">${icon(tone)}${text}</span>`;
}

/**
 * Returns a bar of a total, with its parts from the left. The text beside it has the same figures.
 * @param {number} total
 * @param {readonly { readonly amount: number, readonly className: string }[]} parts
 */
export function bar(total, parts) {
  let start = 0;
  const rectangles = parts.map(({ amount, className }) => {
    const width = total === 0 ? 0 : Math.min(100 - start, (100 * amount) / total);
    const rectangle = svg`<rect class=${className} x="${start}%" width="${width}%" height="100%" />`;
    start += width;
    return rectangle;
  });
  return html`<svg class="bar" aria-hidden="true">${rectangles}</svg>`;
}
