import { html, nothing, render } from 'lit-html';
import { send } from '../shared/exchange.js';
import '../shared/time-chart.js';
import { listSection } from './lists.js';
import { loadsSection } from './loads.js';
import { keyFigures, masthead, noResponse, readiness } from './overview.js';
import { pollWhileVisible } from './poll.js';
import { resources } from './resources.js';
import { snapshots } from './snapshots.js';
import { trafficSection } from './traffic.js';

/** @import { ListState } from './lists.js' */
/** @import { Silence } from './overview.js' */
/** @import { Interval, Summary } from './types.d.ts' */

/** The status page. Polling the admin port, and actions of the user, change its state, from which the page is drawn. */

const POLL_MS = 2000;
/** The process adds an interval every 10 seconds. */
const HISTORY_MS = 10_000;
const TIMEOUT_MS = 5000;

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
  /** @type {ListState} */
  organizations: { search: '', page: 1 },
  /** @type {ListState} */
  keys: { search: '', page: 1 },
};

const root = document.createElement('main');
document.getElementById('status')?.replaceWith(root);
render(html`<p class="note">Waiting for the replica …</p>`, root);

const poll = pollWhileVisible(async () => {
  try {
    state.summary = /** @type {Summary} */ (await read('summary'));
    await readList('organizations');
    await readList('keys');
    if (performance.now() - state.historyAt > HISTORY_MS) {
      const history = /** @type {{ intervals: readonly Interval[] }} */ (await read('history'));
      state.intervals = history.intervals;
      state.historyAt = performance.now();
    }
    state.updatedAt = new Date();
    state.silence = undefined;
  } catch (error) {
    state.silence = {
      since: state.updatedAt,
      reason: error instanceof Error ? error.message : String(error),
    };
    // A process that starts again has a new history.
    state.historyAt = -Infinity;
  }
  draw();
}, POLL_MS);

/** @param {string} path */
async function read(path) {
  const { status, failure, body } = await send(
    { target: path, headers: [] },
    AbortSignal.timeout(TIMEOUT_MS),
  );
  if (status === 200 && body !== undefined) return body;
  throw new Error(status === 0 ? failure : `/${path} responded with status ${status}`);
}

/**
 * Reads the part of a list that the user asked for, or the last page if the list has become shorter.
 * @param {'organizations' | 'keys'} name
 */
async function readList(name) {
  const { search, page } = state[name];
  const query = new URLSearchParams({ search, page: String(page) });
  const content = /** @type {NonNullable<ListState['content']>} */ (await read(`${name}?${query}`));
  state[name].content = content;
  if (state[name].page > content.totalPages && content.totalPages > 0) goTo(name, search, content.totalPages);
}

/**
 * @param {'organizations' | 'keys'} name
 * @param {string} search
 * @param {number} page
 */
function goTo(name, search, page) {
  Object.assign(state[name], { search, page });
  poll();
}

function draw() {
  const { summary, updatedAt, silence } = state;
  if (summary === undefined || updatedAt === undefined) {
    if (silence !== undefined) render(noResponse(silence), root);
    return;
  }
  render(page(summary, updatedAt, silence), root);
  document.title = `${silence ? 'No response' : summary.ready ? 'Ready' : 'Not ready'} – Foyer status`;
}

/**
 * @param {Summary} summary
 * @param {Date} updatedAt
 * @param {Silence | undefined} silence
 */
function page(summary, updatedAt, silence) {
  const { intervals, showsAllLoads } = state;
  /**
   * @param {'organizations' | 'keys'} name
   * @param {unknown} emptyText
   */
  const list = (name, emptyText) =>
    listSection(name, state[name], emptyText, (search, number) => {
      goTo(name, search, number);
    });
  return html`${masthead(summary, updatedAt)} ${readiness(summary, silence)}
    <div class=${silence === undefined ? nothing : 'stale'}>
      ${keyFigures(summary, intervals)} ${snapshots(summary)} ${trafficSection(intervals)}
      ${loadsSection(summary.loads, showsAllLoads, () => {
        state.showsAllLoads = !showsAllLoads;
        draw();
      })}
      ${resources(summary)} ${list('organizations', 'No organization is live.')}
      ${list(
        'keys',
        html`There is no key in ${summary.keys.file}. Create one:
          <pre>npm run keys -- create --organization ID</pre>`,
      )}
    </div>`;
}
