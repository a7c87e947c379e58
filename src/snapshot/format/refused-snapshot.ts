/** The reasons for refusing a snapshot, each with advice for the operator. */
export const REFUSALS = {
  unreadable: 'The file cannot be read. Check its permissions and the disk. It is tried again.',
  'not-a-file': 'It is a folder, a pipe or a device. Remove it from the snapshot folder.',
  'outside-folder': 'It is a link to a file outside the snapshot folder. Publish the file itself.',
  empty: 'The file is empty. Copy or build it again.',
  'not-sqlite': 'It is not an SQLite database. Build a snapshot from the export.',
  foreign: "It is another application's database. Remove it from the snapshot folder.",
  'other-version':
    'Its format has another version. Build it again with the Foyer version that reads it: npm run snapshot -- build.',
  wal: 'It is in WAL mode. Publish the file as the builder wrote it.',
  'cut-short': 'Its size differs from the size in its header. Copy it again, and rename it into place.',
  unfinished: 'The file is still being written, or its copy was interrupted. Copy or build it again.',
  schema: 'Its tables, columns, views or triggers are not those of a snapshot. Build it again.',
  damaged: 'Its content does not match its digests. Copy or build it again.',
  inconsistent: 'Its declared and actual content differ. Build it again.',
  'duplicate-id': 'Two records have the same id. Build it again.',
  'event-without-session': 'An event has no session, or a session has no event. Build it again.',
  'no-organization': 'It holds no organization. Check the export.',
  conflict: 'Another file holds the same organization. Remove the organization from one of them.',
  older: 'It is older than the live snapshot. To roll back, publish it with --rollback.',
  'organization-gone':
    'It lacks an organization that is live. To remove the organization, publish with --allow-shrink.',
  shrunk:
    'A collection lost more than half of its records. To remove the records, publish with --allow-shrink.',
  memory: 'There is not enough memory to load it. Raise MEMORY_LIMIT_MB, or give the process more memory.',
  timeout:
    'It was not loaded within LOAD_TIMEOUT_SECONDS. Check the disk or raise the limit. It is tried again.',
  'loader-failed': 'The loader failed. Check the log and the memory of the machine. It is tried again.',
} as const;

export type RefusalReason = keyof typeof REFUSALS;

/** Reasons that may pass without a change of the file, such as a lack of memory or open files. */
export const TRANSIENT_REASONS: readonly RefusalReason[] = ['unreadable', 'timeout', 'loader-failed'];
/** Reasons that depend on the other live snapshots. */
export const DEPENDENT_REASONS: readonly RefusalReason[] = ['conflict', 'memory'];

/** Longer messages are cut: they quote the file, and a line of the log has its limit. */
const MAX_MESSAGE = 2000;

/** The refusal of a snapshot, with a message for operators. The message does not name the file. */
export class RefusedSnapshot extends Error {
  override readonly name = 'RefusedSnapshot';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message);
    this.reason = reason;
  }
}

export function damaged(finding: string): RefusedSnapshot {
  return new RefusedSnapshot('damaged', `${finding}: the file is damaged; copy or build it again`);
}

export function inconsistent(message: string): RefusedSnapshot {
  return new RefusedSnapshot('inconsistent', message);
}
