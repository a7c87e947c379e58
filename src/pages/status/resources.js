import { html, nothing } from 'lit-html';
import { formatBytes, formatCount } from '../shared/format.js';
import { badge, bar } from './marks.js';

/** @import { Memory, Summary } from './types.d.ts' */

/** Memory, threads, connections, keys and log of the process. */

/** Shares of a limit from which on it is nearly reached. They are those of the alerts. */
const NEARLY_OUT_OF_MEMORY = 0.9;
const NEARLY_OUT_OF_CONNECTIONS = 0.8;

/** @param {Summary} summary */
export function resources({ memory, threads, connections, keys, log }) {
  const { valid, validWithoutData, complaint, warning } = keys;
  return html`<section aria-labelledby="resources">
    <h2 id="resources">Process</h2>
    <div class="resources">
      ${memoryPart(memory)}
      <dl class="facts">
        ${fact(
          'Threads',
          `${threads.listening} of ${threads.count} answer requests`,
          threads.listening < threads.count && badge('bad', 'threads are missing'),
          threads.replaced > 0 && badge('warn', `${formatCount(threads.replaced)} ended and were replaced`),
        )}
        ${fact(
          'Connections',
          `${formatCount(connections.open)} of ${formatCount(connections.limit)} open`,
          connections.open > NEARLY_OUT_OF_CONNECTIONS * connections.limit && badge('warn', 'near the limit'),
        )}
        ${fact(
          'Keys',
          `${formatCount(valid)} valid`,
          validWithoutData > 0 && badge('warn', `${formatCount(validWithoutData)} of them without data`),
          complaint !== null && badge('bad', `the keys file cannot be used: ${complaint}`),
          warning !== null && badge('warn', warning),
        )}
        ${fact(
          'Log lines dropped',
          formatCount(log.droppedLines),
          log.droppedLines > 0 && badge('warn', 'the reader of the log is too slow'),
        )}
      </dl>
    </div>
  </section>`;
}

/** @param {Memory} memory */
function memoryPart({ limitBytes, heldBytes, retainedBytes, residentBytes }) {
  const isNearlyOut = residentBytes > NEARLY_OUT_OF_MEMORY * limitBytes;
  const parts = [
    { label: 'live data', amount: heldBytes - retainedBytes, className: 'accent' },
    { label: 'retained for walks', amount: retainedBytes, className: 'retained' },
    {
      label: 'threads, buffers and program',
      amount: Math.max(0, residentBytes - heldBytes),
      className: 'rest',
    },
  ];
  return html`<div class="memory">
    <h3>Memory ${isNearlyOut ? badge('warn', 'near the limit') : nothing}</h3>
    <p>${formatBytes(residentBytes)} of ${formatBytes(limitBytes)} in use</p>
    ${bar(limitBytes, parts)}
    <ul class="legend">
      ${parts.map(
        ({ label, amount, className }) =>
          html`<li>
            <span class="swatch ${className}"></span>${label}
            <span class="legend-value">${formatBytes(amount)}</span>
          </li>`,
      )}
    </ul>
  </div>`;
}

/**
 * @param {string} name
 * @param {string} value
 * @param {readonly unknown[]} remarks false for none
 */
function fact(name, value, ...remarks) {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}${remarks.map((remark) => (remark === false ? nothing : html`<br />${remark}`))}</dd>
  </div>`;
}
