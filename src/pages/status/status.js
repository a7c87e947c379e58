import { html, nothing, render } from 'lit-html';
import { keyList, organizationList } from './lists.js';
import { loadsSection } from './loads.js';
import { keyFigures, masthead, noResponse, readiness } from './overview.js';
import { pollWhileVisible } from './poll.js';
import { resources } from './resources.js';
import { fetchHistory, fetchSummary } from './responses.js';
import { snapshots } from './snapshots.js';
import { TrafficCharts, trafficSection } from './traffic.js';

/** The status page: polls the admin port, and shows its responses. */

/**
 * @import { Silence } from './overview.js'
 * @import { Interval, Summary } from './responses.js'
 */

const POLL_MS = 2000;
/** The process adds an interval every 10 seconds. */
const HISTORY_MS = 10_000;

const state = {
  /** @type {Summary | undefined} */
  summary: undefined,
  /** @type {Date | undefined} */
  updatedAt: undefined,
  /** @type {readonly Interval[]} */
  intervals: [],
  historyAt: -Infinity,
  /** @type {Silence | undefined} */
  silence: undefined,
  showsAllLoads: false,
};

const root = document.createElement('main');
document.getElementById('status')?.replaceWith(root);
render(html`<p class="note">Waiting for the replica …</p>`, root);
const charts = new TrafficCharts();

const organizations = organizationList(() => {
  poll();
});
const keys = keyList(() => {
  poll();
});
const poll = pollWhileVisible(async () => {
  try {
    state.summary = await fetchSummary();
    await organizations.load();
    await keys.load();
    if (performance.now() - state.historyAt > HISTORY_MS) {
      state.intervals = (await fetchHistory()).intervals;
      state.historyAt = performance.now();
    }
    state.updatedAt = new Date();
    state.silence = undefined;
  } catch (error) {
    state.silence = {
      since: state.updatedAt,
      reason: error instanceof Error ? error.message : String(error),
    };
    // After a restart the history begins anew.
    state.historyAt = -Infinity;
  }
  show();
}, POLL_MS);

function show() {
  const { summary, updatedAt, silence } = state;
  if (summary === undefined || updatedAt === undefined) {
    if (silence !== undefined) render(noResponse(silence), root);
    return;
  }
  render(page(summary, updatedAt, silence), root);
  charts.show(state.intervals);
  document.title = `${silence ? 'No response' : summary.ready ? 'Ready' : 'Not ready'} – Foyer status`;
}

/**
 * @param {Summary} summary
 * @param {Date} updatedAt
 * @param {Silence | undefined} silence
 */
function page(summary, updatedAt, silence) {
  return html`${masthead(summary, updatedAt)} ${readiness(summary, silence)}
    <div class=${silence === undefined ? nothing : 'stale'}>
      ${keyFigures(summary, state.intervals)} ${snapshots(summary)} ${trafficSection(state.intervals)}
      ${loadsSection(summary.loads, state.showsAllLoads, () => {
        state.showsAllLoads = !state.showsAllLoads;
        show();
      })}
      ${resources(summary)}
      ${organizations.section('Organizations', 'part of an id', 'No organization is live.')}
      ${keys.section(
        'Keys',
        'part of an id, organization or label',
        html`There is no key in ${summary.keys.file}. Create one:
          <pre>npm run keys -- create --organization ID</pre>`,
      )}
    </div>`;
}
