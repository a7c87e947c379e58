import { html, nothing } from 'lit-html';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../shared/format.js';
import { badge, bar, icon } from './marks.js';

/** The live snapshots, the current load, the refused files, and the retained snapshots. */

/** @import { RetainedSnapshot, SnapshotSummary, Summary } from './responses.js' */

/** Rows of a table without a search. A folder may hold many files. */
const MAX_ROWS = 50;

/** @param {Summary} summary */
export function snapshots(summary) {
  const { snapshotFolder, loading, loads, refused, retainedSnapshots } = summary;
  return html`<section aria-labelledby="snapshots">
    <h2 id="snapshots">Live data</h2>
    <p class="lead">Snapshot folder: <code>${snapshotFolder.path}</code></p>
    ${
      snapshotFolder.complaint === null
        ? nothing
        : notice('The snapshot folder cannot be read', snapshotFolder.complaint)
    }
    ${refused.slice(0, MAX_ROWS).map(
      ({ file, refusedAt, reason, detail, advice, nextTryAt }) =>
        html`<article class="notice bad">
          ${icon('bad')}
          <div>
            <h3>${file} was refused: <code>${reason}</code></h3>
            <p class="detail">${detail}</p>
            <p><strong>${advice}</strong></p>
            <p class="note">
              Refused at ${formatDateTime(refusedAt)}. What was live stays live.
              ${nextTryAt === null ? nothing : `The next try is at ${formatDateTime(nextTryAt)}.`}
            </p>
          </div>
        </article>`,
    )}
    ${more(refused.length)} ${loading === null ? nothing : inProgress(loading.file, loading.startedAt, loads)}
    ${liveTable(summary)} ${retainedSnapshots.length === 0 ? nothing : retainedTable(retainedSnapshots)}
  </section>`;
}

/**
 * @param {string} title
 * @param {string} text
 */
function notice(title, text) {
  return html`<article class="notice bad">
    ${icon('bad')}
    <div>
      <h3>${title}</h3>
      <p>${text}</p>
    </div>
  </article>`;
}

/**
 * @param {string} file
 * @param {string} startedAt
 * @param {Summary['loads']} loads
 */
function inProgress(file, startedAt, loads) {
  const before = loads.find((load) => load.file === file && load.outcome === 'live');
  return html`<article class="notice">
    <span class="pulse" aria-hidden="true"></span>
    <div>
      <h3>${file} is being loaded</h3>
      <p>
        Since
        ${formatDateTime(startedAt)}${
          before === undefined ? '' : `; the last load took ${formatDuration(before.durationMs / 1000)}`
        }.
      </p>
    </div>
  </article>`;
}

/** @param {Summary} summary */
function liveTable({ snapshots: live, maxSnapshotAgeSeconds, snapshotFolder, loading }) {
  if (live.length === 0)
    return html`<div class="empty">
      <p>No snapshot is live${loading === null ? '' : ' yet'}.</p>
      ${
        loading === null
          ? html`<p>Build one from an import folder, and publish it into ${snapshotFolder.path}:</p>
              <pre>
npm run snapshot -- build --input DIR --output FILE
npm run snapshot -- publish FILE</pre>`
          : nothing
      }
    </div>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of live snapshots">
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>Snapshot</th>
            <th>Data as of</th>
            <th class="number">Age</th>
            <th class="number">Organizations</th>
            <th class="number">Records</th>
            <th class="number">Memory</th>
          </tr>
        </thead>
        <tbody>
          ${live.slice(0, MAX_ROWS).map((one) => liveRow(one, maxSnapshotAgeSeconds))}
        </tbody>
      </table>
    </div>
    ${more(live.length)}`;
}

/**
 * @param {SnapshotSummary} snapshot
 * @param {number | null} limit
 */
function liveRow(snapshot, limit) {
  const { file, isFilePresent, snapshotId, producedAt, warning } = snapshot;
  const { ageSeconds, organizationCount, records, bytesHeld } = snapshot;
  const isOld = limit !== null && ageSeconds > limit;
  const counts = Object.entries(records).map(([collection, count]) => `${formatCount(count)} ${collection}`);
  const total = Object.values(records).reduce((sum, count) => sum + count, 0);
  return html`<tr>
    <th scope="row">${file} ${isFilePresent ? nothing : badge('warn', 'file removed, data stays live')}</th>
    <td><code>${snapshotId}</code></td>
    <td>
      ${formatDateTime(producedAt)}
      ${warning === null ? nothing : html`<span title=${warning}>${badge('warn', 'ahead of the clock')}</span>`}
    </td>
    <td class="number">
      ${formatDuration(Math.floor(ageSeconds))}
      ${
        limit === null
          ? nothing
          : html`${bar(limit, [{ amount: ageSeconds, className: isOld ? 'bad' : 'accent' }])}
            ${isOld ? badge('bad', 'too old') : nothing}`
      }
    </td>
    <td class="number">${formatCount(organizationCount)}</td>
    <td class="number" title=${counts.join(', ')}>${formatCount(total)}</td>
    <td class="number">${formatBytes(bytesHeld)}</td>
  </tr>`;
}

/** @param {readonly RetainedSnapshot[]} retained */
function retainedTable(retained) {
  return html`<h3>Retained for walks that began on it</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of retained snapshots">
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>Snapshot</th>
            <th class="number">Replaced</th>
            <th class="number">Last used</th>
            <th class="number">Gone in</th>
            <th class="number">Organizations</th>
            <th class="number">Memory</th>
          </tr>
        </thead>
        <tbody>
          ${retained.slice(0, MAX_ROWS).map(
            (one) =>
              html`<tr>
                <th scope="row">${one.file}</th>
                <td><code>${one.snapshotId}</code></td>
                <td class="number">${formatDuration(Math.floor(one.replacedSecondsAgo))} ago</td>
                <td class="number">${formatDuration(Math.floor(one.lastUsedSecondsAgo))} ago</td>
                <td class="number">${formatDuration(Math.floor(one.goneInSeconds))}</td>
                <td class="number">${formatCount(one.organizationCount)}</td>
                <td class="number">${formatBytes(one.bytesHeld)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more(retained.length)}`;
}

/** @param {number} length number of all rows */
function more(length) {
  if (length <= MAX_ROWS) return nothing;
  return html`<p class="note">
    And ${formatCount(length - MAX_ROWS)} more: see <a href="summary">/summary</a>.
  </p>`;
}
