import { html, nothing } from 'lit-html';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../shared/format.js';
import { scrollingTable } from '../shared/table.js';
import { durationOf } from './loads.js';
import { badge, bar, icon } from './marks.js';

/** @import { Column } from '../shared/table.js' */
/** @import { LiveSnapshot, Summary } from './types.d.ts' */

/** The live snapshots, the current load, the refused files, and the retained snapshots. */

/** Rows of a table without a search. A folder may hold many files. */
const MAX_ROWS = 50;

/** @param {Summary} summary */
export function snapshots(summary) {
  const { snapshotFolder, loading, refused, feeds, retainedSnapshots } = summary;
  return html`<section aria-labelledby="snapshots">
    <h2 id="snapshots">Live data</h2>
    <p class="lead">Snapshot folder: <code>${snapshotFolder.path}</code></p>
    ${
      snapshotFolder.complaint === null
        ? nothing
        : fault(html`The snapshot folder cannot be read`, html`<p>${snapshotFolder.complaint}</p>`)
    }
    ${refused.slice(0, MAX_ROWS).map(refusal)} ${more(refused.length)} ${feeds.slice(0, MAX_ROWS).map(feed)}
    ${more(feeds.length)} ${loading === null ? nothing : inProgress(loading, summary)} ${live(summary)}
    ${
      retainedSnapshots.length === 0
        ? nothing
        : html`<h3>Retained for walks that began on it</h3>
            ${limitedTable('Table of retained snapshots', RETAINED, retainedSnapshots)}`
    }
  </section>`;
}

/**
 * @param {unknown} title
 * @param {unknown} text
 */
function fault(title, text) {
  return html`<article class="notice bad">
    ${icon('bad')}
    <div>
      <h3>${title}</h3>
      ${text}
    </div>
  </article>`;
}

/** @param {Summary['refused'][number]} refused */
function refusal({ file, refusedAt, reason, detail, advice, nextTryAt }) {
  return fault(
    html`${file} was refused: <code>${reason}</code>`,
    html`<p class="detail">${detail}</p>
      <p><strong>${advice}</strong></p>
      <p class="note">
        Refused at ${formatDateTime(refusedAt)}.
        ${nextTryAt === null ? nothing : `The next try is at ${formatDateTime(nextTryAt)}.`}
      </p>`,
  );
}

/** @param {Summary['feeds'][number]} feed */
function feed({ file, complaint, failedAt, failure, heldBackCount, heldBack, ...times }) {
  return html`${complaint === null ? nothing : fault('The report of a feed cannot be read', complaint)}
    ${failedAt === null ? nothing : fault(`The feed of ${file} failed at ${formatDateTime(failedAt)}`, failure)}
    ${
      heldBackCount === 0
        ? nothing
        : fault(
            `Organizations that the feed of ${file} keeps in an earlier state: ${formatCount(heldBackCount)}`,
            heldBack.map(({ organizationId, reason }) => html`<p>${organizationId}: ${reason}</p>`),
          )
    }
    <p class="lead">Feed of ${file}: ${stateOfFeed(times)}</p>`;
}

/** @param {Pick<Summary['feeds'][number], 'startedAt' | 'endedAt' | 'publishedAt' | 'pausedAt'>} times */
function stateOfFeed({ startedAt, endedAt, publishedAt, pausedAt }) {
  if (pausedAt !== null) return badge('warn', `paused since ${formatDateTime(pausedAt)}`);
  if (startedAt !== null && endedAt === null) return `has run since ${formatDateTime(startedAt)}`;
  return publishedAt === null ? 'has not published yet' : `published at ${formatDateTime(publishedAt)}`;
}

/**
 * @param {NonNullable<Summary['loading']>} loading
 * @param {Summary} summary
 */
function inProgress({ file, startedAt }, { loads }) {
  const last = loads.find((load) => load.file === file && load.outcome === 'live');
  return html`<article class="notice">
    <span class="pulse" aria-hidden="true"></span>
    <div>
      <h3>${file} is being loaded</h3>
      <p>
        Since
        ${formatDateTime(startedAt)}${last === undefined ? '' : `; the last load took ${durationOf(last)}`}.
      </p>
    </div>
  </article>`;
}

/** @param {Summary} summary */
function live({ snapshots: all, maxSnapshotAgeSeconds, snapshotFolder, loading }) {
  if (all.length > 0) return limitedTable('Table of live snapshots', liveColumns(maxSnapshotAgeSeconds), all);
  if (loading !== null) return html`<div class="empty"><p>No snapshot is live yet.</p></div>`;
  return html`<div class="empty">
    <p>No snapshot is live.</p>
    <p>Build one from an import folder, and publish it into ${snapshotFolder.path}:</p>
    <pre>
npm run snapshot -- build --input DIR --output FILE
npm run snapshot -- publish FILE</pre>
  </div>`;
}

/**
 * @param {number | null} maxAgeSeconds
 * @returns {readonly Column<LiveSnapshot>[]}
 */
function liveColumns(maxAgeSeconds) {
  return [
    [
      'File',
      ({ file, isFilePresent }) =>
        html`${file} ${isFilePresent ? nothing : badge('bad', 'file removed: a restart would be an outage')}`,
      'header',
    ],
    ['Snapshot', ({ snapshotId }) => html`<code>${snapshotId}</code>`],
    [
      'Data as of',
      ({ producedAt, warning }) =>
        html`${formatDateTime(producedAt)}
        ${warning === null ? nothing : html`<span title=${warning}>${badge('warn', 'ahead of the clock')}</span>`}`,
    ],
    [
      'Age',
      ({ ageSeconds }) => html`${wholeSeconds(ageSeconds)} ${ageBar(ageSeconds, maxAgeSeconds)}`,
      'number',
    ],
    ['Organizations', ({ organizationCount }) => formatCount(organizationCount), 'number'],
    ['Records', ({ records }) => recordCount(records), 'number'],
    ['Memory', ({ bytesHeld }) => formatBytes(bytesHeld), 'number'],
  ];
}

/**
 * @param {number} seconds
 * @param {number | null} limit
 */
function ageBar(seconds, limit) {
  if (limit === null) return nothing;
  const isOld = seconds > limit;
  return html`${bar(limit, [{ amount: seconds, className: isOld ? 'bad' : 'accent' }])}
  ${isOld ? badge('bad', 'too old') : nothing}`;
}

/** @param {LiveSnapshot['records']} records */
function recordCount(records) {
  const counts = Object.entries(records).map(([collection, count]) => `${formatCount(count)} ${collection}`);
  const total = Object.values(records).reduce((sum, count) => sum + count, 0);
  return html`<span title=${counts.join(', ')}>${formatCount(total)}</span>`;
}

/** @type {readonly Column<Summary['retainedSnapshots'][number]>[]} */
const RETAINED = [
  ['File', ({ file }) => file, 'header'],
  ['Snapshot', ({ snapshotId }) => html`<code>${snapshotId}</code>`],
  ['Replaced', ({ replacedSecondsAgo }) => `${wholeSeconds(replacedSecondsAgo)} ago`, 'number'],
  ['Last used', ({ lastUsedSecondsAgo }) => `${wholeSeconds(lastUsedSecondsAgo)} ago`, 'number'],
  ['Gone in', ({ goneInSeconds }) => wholeSeconds(goneInSeconds), 'number'],
  ['Organizations', ({ organizationCount }) => formatCount(organizationCount), 'number'],
  ['Memory', ({ bytesHeld }) => formatBytes(bytesHeld), 'number'],
];

/** @param {number} seconds */
function wholeSeconds(seconds) {
  return formatDuration(Math.floor(seconds));
}

/**
 * @template R
 * @param {string} name
 * @param {readonly Column<R>[]} columns
 * @param {readonly R[]} rows
 */
function limitedTable(name, columns, rows) {
  return html`${scrollingTable(name, columns, rows.slice(0, MAX_ROWS))} ${more(rows.length)}`;
}

/** @param {number} length number of all rows */
function more(length) {
  if (length <= MAX_ROWS) return nothing;
  return html`<p class="note">
    And ${formatCount(length - MAX_ROWS)} more: see <a href="summary">/summary</a>.
  </p>`;
}
