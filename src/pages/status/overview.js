import { html, nothing } from 'lit-html';
import { formatBytes, formatCount, formatDateTime, formatDuration, formatTime } from '../shared/format.js';
import { icon } from './marks.js';
import { formatPercentile, formatRate, totalsOf } from './traffic.js';

/** The head of the page: whether the replica is ready, and its main figures. */

/**
 * @import { TemplateResult } from 'lit-html'
 * @import { Interval, Summary } from './types.d.ts'
 * @typedef {{ readonly since: Date | undefined, readonly reason: string }} Silence
 */

/**
 * @param {Summary} summary
 * @param {Date} updatedAt
 */
export function masthead({ version, startedAt, uptimeSeconds }, updatedAt) {
  return html`<header class="masthead">
    <p class="product"><img src="shared/icon.svg" alt="" width="28" height="28" /> Foyer</p>
    <p>${location.host}, version ${version}</p>
    <p title="started at ${formatDateTime(startedAt)}">up ${formatDuration(Math.floor(uptimeSeconds))}</p>
    <p class="updated">updated ${formatTime(updatedAt)}</p>
  </header>`;
}

/**
 * Returns the faults that do not end readiness, each with the section that has the details.
 * @param {Summary} summary
 */
export function concernsOf({ snapshotFolder, snapshots, refused, feeds, keys, threads, log }) {
  const { validWithoutData: idle } = keys;
  /** @type {readonly (readonly [section: string, isTrue: boolean, text: string])[]} */
  const concerns = [
    ['snapshots', snapshotFolder.complaint !== null, 'The snapshot folder cannot be read.'],
    [
      'snapshots',
      refused.length > 0,
      `${countOf(refused.length, 'snapshot file was', 'snapshot files were')} refused.`,
    ],
    [
      'snapshots',
      snapshots.some((one) => !one.isFilePresent),
      'A file is gone: a restart would be an outage.',
    ],
    ['snapshots', feeds.some((one) => (one.failure ?? one.complaint) !== null), 'A feed failed.'],
    ['snapshots', feeds.some(({ pausedAt }) => pausedAt !== null), 'A feed is paused.'],
    ['snapshots', feeds.some(({ heldBackCount }) => heldBackCount > 0), 'Organizations are held back.'],
    ['snapshots', snapshots.some(({ warning }) => warning !== null), 'A snapshot is ahead of the clock.'],
    ['resources', keys.complaint !== null, 'The keys file cannot be used.'],
    ['resources', keys.warning !== null, 'Other users can write to the keys file.'],
    ['keys', idle > 0, `${countOf(idle, 'valid key has', 'valid keys have')} no data.`],
    ['resources', threads.listening < threads.count, 'A thread is missing.'],
    ['resources', log.droppedLines > 0, 'Log lines were dropped.'],
  ];
  return concerns.filter(([, isTrue]) => isTrue).map(([section, , text]) => ({ section, text }));
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} many
 */
function countOf(count, one, many) {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/**
 * States whether the replica is ready.
 * @param {Summary} summary
 * @param {Silence | undefined} silence
 */
export function readiness(summary, silence) {
  if (silence !== undefined) return noResponse(silence);
  return verdict(summary.ready ? 'good' : 'bad', readinessOf(summary));
}

/**
 * @param {'good' | 'bad'} tone
 * @param {TemplateResult} content
 */
function verdict(tone, content) {
  return html`<section class="readiness ${tone}" role="status">
    ${icon(tone)}
    <div>${content}</div>
  </section>`;
}

/** @param {Summary} summary */
function readinessOf(summary) {
  const concerns = concernsOf(summary);
  return html`<h1>${summary.ready ? 'Ready' : 'Not ready'}</h1>
    ${
      summary.ready
        ? html`<p>The replica answers requests with live data.</p>`
        : html`<ul>
            ${summary.reasons.map((reason) => html`<li>${reason}</li>`)}
          </ul>`
    }
    ${
      concerns.length === 0
        ? nothing
        : html`<p class="concerns">
            ${concerns.map(({ section, text }) => html`<a class="badge warn" href="#${section}">${icon('warn')}${text}</a>`)}
          </p>`
    }`;
}

/**
 * States that the replica does not respond.
 * @param {Silence} silence
 */
export function noResponse({ since, reason }) {
  return verdict(
    'bad',
    html`<h1>No response${since && html` since ${formatTime(since)}`}</h1>
      <p>
        The admin port does not answer (${reason}). The process has ended, or the way to it is interrupted.
        The page tries again by itself${since && '; the figures below are the last ones received'}.
      </p>`,
  );
}

/**
 * @param {Summary} summary
 * @param {readonly Interval[]} intervals
 */
export function keyFigures({ snapshots, maxSnapshotAgeSeconds, memory, keys }, intervals) {
  const latest = intervals.at(-1);
  const { requests, clientErrors, tooManyRequests, serverErrors } = totalsOf(intervals);
  const errors = clientErrors + tooManyRequests + serverErrors;
  const oldest = Math.max(...snapshots.map(({ ageSeconds }) => ageSeconds));
  const organizations = snapshots.reduce((sum, one) => sum + one.organizationCount, 0);
  return html`<dl class="figures">
    ${figure(
      'Requests',
      latest ? formatRate(latest.requests / latest.seconds) : '–',
      `${formatCount(requests)} in the last hour`,
    )}
    ${figure('Latency p99', formatPercentile(latest?.p99 ?? null), 'in the last 10 seconds')}
    ${figure(
      'Errors',
      requests === 0 ? '–' : `${((100 * errors) / requests).toFixed(errors === 0 ? 0 : 1)} %`,
      `5xx: ${formatCount(serverErrors)}, 429: ${formatCount(tooManyRequests)}, other 4xx: ${formatCount(clientErrors)}`,
    )}
    ${figure(
      'Oldest data',
      snapshots.length === 0 ? '–' : formatDuration(Math.floor(oldest)),
      maxSnapshotAgeSeconds === null
        ? 'no age limit is set'
        : `limit: ${formatDuration(maxSnapshotAgeSeconds)}`,
    )}
    ${figure('Organizations', formatCount(organizations), countOf(keys.valid, 'valid key', 'valid keys'))}
    ${figure(
      'Memory',
      formatBytes(memory.residentBytes),
      `${Math.round((100 * memory.residentBytes) / memory.limitBytes)} % of ${formatBytes(memory.limitBytes)}`,
    )}
  </dl>`;
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} note
 */
function figure(name, value, note) {
  return html`<div>
    <dt>${name}</dt>
    <dd class="value">${value}</dd>
    <dd class="note">${note}</dd>
  </div>`;
}
