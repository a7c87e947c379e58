import { html, nothing } from 'lit-html';

/** The tables of the explorer and the status page. */

/**
 * A number is aligned right. A header names its row.
 * @template R
 * @typedef {readonly [label: string, cell: (row: R) => unknown, kind?: 'number' | 'header']} Column
 */

/**
 * Returns a table that scrolls within its region, by keyboard too. Where a style sheet makes blocks of the rows, as for a
 * narrow screen, the cells have their labels before them.
 * @template R
 * @param {string} name of the region
 * @param {readonly Column<R>[]} columns
 * @param {readonly R[]} rows
 */
export function scrollingTable(name, columns, rows) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}>
    <table>
      <thead>
        <tr>
          ${columns.map(([label, , kind]) => html`<th scope="col" class=${classOf(kind)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map((column) => cell(column, row))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * @template R
 * @param {Column<R>} column
 * @param {R} row
 */
function cell([label, content, kind], row) {
  return kind === 'header'
    ? html`<th scope="row">${content(row)}</th>`
    : html`<td data-label=${label} class=${classOf(kind)}>${content(row)}</td>`;
}

/** @param {Column<never>[2]} kind */
function classOf(kind) {
  return kind === 'number' ? kind : nothing;
}
