/** Every reason for which a snapshot does not go live, with what it means and what to do about it. */
export const REFUSALS = {
  unreadable: 'The file cannot be read. See to its permissions and to the disk.',
  'not-a-file': 'It is a folder, a pipe or a device. Take it out of the folder.',
  'outside-folder': 'It is a link that leads out of the snapshot folder. Publish the file itself.',
  empty: 'The file has no bytes. Copy or build it again.',
  'not-sqlite': 'It is no SQLite database. Build a snapshot of the export.',
  foreign: "It is another application's database. Take it out of the folder.",
  'other-version':
    'Its format is of another version. Build it again with the Foyer that is to read it: npm run snapshot -- build.',
  wal: 'It is in WAL mode. Leave a snapshot as the builder made it.',
  'cut-short': 'It has fewer or more bytes than its header says. Copy it again, and rename it into place.',
  unfinished: 'Somebody writes it, or broke off. Copy or build it again.',
  schema: 'It has other tables, columns, views or triggers than a snapshot. Build it again.',
  damaged: 'Its content is not what it was when it was built. Copy or build it again.',
  inconsistent: 'Its parts do not fit together, which no builder of ours writes. Build it again.',
  'duplicate-id': 'An id stands twice. Build it again.',
  'event-without-session': 'An event has no session, or a session no event. Build it again.',
  'no-organization': 'It holds no organization. Look at the export.',
  conflict: 'Another file holds the same organization. Take the organization out of one of them.',
  older: 'It was produced before what is live. Publish with --rollback if that is what you want.',
  'organization-gone':
    'An organization that is live is not in it. Publish with --allow-shrink if it is to go.',
  shrunk: 'A collection lost more than half of its records. Publish with --allow-shrink if they are to go.',
  memory: 'There is no room for it. Raise MEMORY_LIMIT_MB, or give the process more memory.',
  'loader-failed': 'The thread that reads snapshots broke down. Look at the log, then touch the file.',
} as const;

export type RefusalReason = keyof typeof REFUSALS;

/** A snapshot that does not go live. The message says why, for a person to act on; it does not name the file. */
export class RefusedSnapshot extends Error {
  override readonly name = 'RefusedSnapshot';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
