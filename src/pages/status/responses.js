/** Requests to the admin port, and the shapes of its responses. docs/reference.md describes their paths. */

/**
 * @typedef {object} SnapshotSummary
 * @property {string} file
 * @property {boolean} isFilePresent
 * @property {string} snapshotId
 * @property {string} producedAt
 * @property {number} ageSeconds
 * @property {string | null} warning
 * @property {number} organizationCount
 * @property {Readonly<Record<string, number>>} records by collection
 * @property {number} bytesHeld
 *
 * @typedef {object} RetainedSnapshot
 * @property {string} file
 * @property {string} snapshotId
 * @property {number} organizationCount
 * @property {number} bytesHeld
 * @property {number} replacedSecondsAgo
 * @property {number} lastUsedSecondsAgo
 * @property {number} goneInSeconds
 *
 * @typedef {object} RefusedFile
 * @property {string} file
 * @property {string} refusedAt
 * @property {string} reason
 * @property {string} detail
 * @property {string} advice
 * @property {string | null} nextTryAt
 *
 * @typedef {{ readonly file: string, readonly startedAt: string }} LoadInProgress
 *
 * @typedef {LoadInProgress & { readonly durationMs: number } & (
 *   { readonly outcome: 'live', readonly snapshotId: string, readonly organizations: number, readonly rows: number } |
 *   { readonly outcome: 'refused', readonly reason: string, readonly detail: string }
 * )} LoadOutcome
 *
 * @typedef {object} Summary
 * @property {string} version
 * @property {string} startedAt
 * @property {number} uptimeSeconds
 * @property {boolean} ready
 * @property {readonly string[]} reasons
 * @property {{ readonly path: string, readonly complaint: string | null }} snapshotFolder
 * @property {number | null} maxSnapshotAgeSeconds
 * @property {{ readonly count: number, readonly listening: number, readonly replaced: number }} threads
 * @property {{ readonly open: number, readonly limit: number }} connections
 * @property {{ readonly droppedLines: number }} log
 * @property {KeysSummary} keys
 * @property {Memory} memory
 * @property {readonly SnapshotSummary[]} snapshots
 * @property {readonly RetainedSnapshot[]} retainedSnapshots
 * @property {readonly RefusedFile[]} refused
 * @property {LoadInProgress | null} loading
 * @property {readonly LoadOutcome[]} loads latest first
 *
 * @typedef {object} KeysSummary
 * @property {string} file
 * @property {number} valid
 * @property {number} validWithoutData
 * @property {string | null} complaint
 * @property {string | null} warning
 *
 * @typedef {object} Memory
 * @property {number} limitBytes
 * @property {number} heldBytes live and retained
 * @property {number} retainedBytes
 * @property {number} residentBytes
 *
 * @typedef {object} Organization
 * @property {string} organizationId
 * @property {string} file
 * @property {Readonly<Record<string, number>>} records by collection
 * @property {number} bytesHeld
 *
 * @typedef {object} Key
 * @property {string} keyId
 * @property {string} organizationId
 * @property {string} label
 * @property {'valid' | 'expired' | 'revoked'} state
 * @property {string | null} expiresAt
 * @property {boolean} hasData
 * @property {string | null} lastUsedAt
 *
 * @typedef {object} Interval
 * @property {number} until seconds since the epoch
 * @property {number} seconds
 * @property {number} requests
 * @property {number} tooManyRequests
 * @property {number} clientErrors
 * @property {number} serverErrors
 * @property {number | null} p50 seconds
 * @property {number | null} p95
 * @property {number | null} p99
 */

/**
 * @template T
 * @typedef {object} ListPage
 * @property {readonly T[]} items
 * @property {number} page
 * @property {number} totalPages
 * @property {number} total
 */

const TIMEOUT_MS = 5000;

/** @returns {Promise<Summary>} */
export function fetchSummary() {
  return fetchJson('summary');
}

/** @returns {Promise<{ readonly intervals: readonly Interval[] }>} */
export function fetchHistory() {
  return fetchJson('history');
}

/**
 * @template T
 * @param {'organizations' | 'keys'} list
 * @param {string} search
 * @param {number} page
 * @returns {Promise<ListPage<T>>}
 */
export function fetchList(list, search, page) {
  return fetchJson(`${list}?${new URLSearchParams({ search, page: String(page) })}`);
}

/**
 * @template T
 * @param {string} path
 * @returns {Promise<T>}
 */
async function fetchJson(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`/${path} responded with status ${response.status}`);
  return response.json().then((/** @type {T} */ content) => content);
}
