/**
 * A model of a published snapshot and of all that write and read it. It specifies the pair of files:
 *
 * - The *whole* file, `NAME.sqlite`, holds a snapshot. The file of *changes*, `NAME.changes`, if there is one, holds what
 *   has changed since a time.
 * - A *feed* publishes a successor as a file of changes. *Tidying* makes the published content whole. Every other
 *   *publication* is one whole file: a full build, a file from elsewhere, a rollback. A *pull* installs the pair of
 *   another machine. A *replica* starts, then refreshes.
 * - A file is built under a hidden name, which nobody reads, and renamed into place when it is complete. It does not
 *   change any more: who has opened it can read it at any time.
 */

export interface Version {
  readonly id: string;
  /** Increases from a snapshot to its successor, even if the clock does not. */
  readonly producedAt: number;
}

/** The version that put or deleted a record last, by the record's id. */
export type Versions = Readonly<Record<string, Version>>;

export interface Snapshot extends Version {
  /** The ancestors, oldest first, and the snapshot itself. */
  readonly history: readonly Version[];
  readonly records: Versions;
  readonly deletions: Versions;
}

export interface StoredFile extends Snapshot {
  /** Identifies the file, as device and inode do. In this model, it implies the content. */
  readonly inode: string;
  /** New with each whole publication. */
  readonly epoch: string;
  /** The file lacks the records and deletions up to this time. 0 in a whole file. */
  readonly changesSince: number;
}

export type FileKind = 'whole' | 'changes';
export type Pair = Readonly<Partial<Record<FileKind, StoredFile | undefined>>>;

/** The rules, each of which is necessary: without it, some interleaving breaks a promise. */
export const RULES = {
  /** A reader opens the changes, then the whole file, then decides by these two. It does not look again. */
  opensChangesFirst: true,
  /** Changes apply to a whole file of the same epoch. A rollback may bring back an ancestor of stale changes. */
  appliesInEpoch: true,
  /** Changes apply to ancestors only. A range of times also has what another builder made of the same pair. */
  appliesInHistory: true,
  /** Changes do not apply to what is older than `changesSince`. */
  appliesSince: true,
  /** A replica applies to what is live only changes that apply to the whole file, too. Others are stale. */
  refreshesByPair: true,
  /** A writer holds a lock from its check of the pair to its last change. */
  locks: true,
  /** The lock is that of the name. A lock of the whole file excludes nobody once that is replaced. */
  locksName: true,
  /** A feed is refused if the published content is no longer its base. */
  checksBase: true,
  /** A feed is refused if that has another epoch: the same content was published again as a whole file. */
  checksEpoch: true,
  /** Tidying replaces only the file that it has read. */
  tidiesSameFile: true,
  /** Tidying gives up if its content is not in the history of the published content: a pull has replaced the changes. */
  tidiesHistory: true,
  /** A whole publication renames its file, then removes the changes. Without them, the former file would be served. */
  renamesFirst: true,
  /** A pull renames the whole file, then the changes. They are stale beside the former file, which would be served. */
  pullsWholeFirst: true,
  /** A pull makes the pair whole first if its whole file alone would undo what is published here. */
  pullMakesWhole: true,
};

export type Rules = Readonly<Record<keyof typeof RULES, boolean>>;

export function hasInHistory(snapshot: Snapshot | undefined, { id }: Version): boolean {
  return snapshot?.history.some((version) => version.id === id) ?? false;
}

/** Returns whether changes have all that an earlier content lacks. */
function covers(changes: StoredFile, earlier: Version, rules: Rules): boolean {
  const isAncestor = hasInHistory(changes, earlier);
  const isKnown = rules.appliesInHistory ? isAncestor : earlier.producedAt <= changes.producedAt;
  return isKnown && (!rules.appliesSince || earlier.producedAt >= changes.changesSince);
}

/** Returns whether changes apply to a whole file. If not, they are stale: readers ignore them. */
function appliesTo(changes: StoredFile, whole: StoredFile, rules: Rules): boolean {
  return covers(changes, whole, rules) && (!rules.appliesInEpoch || changes.epoch === whole.epoch);
}

/** Returns the earlier content without the records that the changes hold or deleted, and with theirs. */
function merge({ id, producedAt, history, ...changes }: StoredFile, earlier: Snapshot): Snapshot {
  const kept = Object.entries(earlier.records).filter(([record]) => !(record in changes.deletions));
  return {
    ...{ id, producedAt, history },
    records: { ...Object.fromEntries(kept), ...changes.records },
    deletions: { ...earlier.deletions, ...changes.deletions },
  };
}

/** Returns the content of a pair. */
export function contentOf({ whole, changes }: Pair, rules: Rules): Snapshot | undefined {
  return whole && changes && appliesTo(changes, whole, rules) ? merge(changes, whole) : whole;
}

export function wholeFile(snapshot: Snapshot, epoch: string, name: string): StoredFile {
  const { id, producedAt, history, records, deletions } = snapshot;
  const inode = `${name} ${epoch} ${history.map((version) => version.id).join()}`;
  return { id, producedAt, history, records, deletions, inode, epoch, changesSince: 0 };
}

/** Returns the file of all changes since a whole file. */
function changesFile(snapshot: Snapshot, { epoch, producedAt }: StoredFile): StoredFile {
  const later = (versions: Versions) =>
    Object.fromEntries(Object.entries(versions).filter(([, version]) => version.producedAt > producedAt));
  return {
    ...wholeFile(snapshot, epoch, `since ${producedAt}`),
    records: later(snapshot.records),
    deletions: later(snapshot.deletions),
    changesSince: producedAt,
  };
}

/** Returns a snapshot without ancestors. */
export function firstSnapshot(id: string, producedAt: number): Snapshot {
  const version = { id, producedAt };
  return { ...version, history: [version], records: { latest: version, [id]: version }, deletions: {} };
}

/** Returns a successor. It replaces a record, puts one of its own, and deletes that of its base. */
function successorOf(base: Snapshot, id: string): Snapshot {
  const version = { id, producedAt: base.producedAt + 1 };
  const kept = Object.entries(base.records).filter(([record]) => record !== base.id);
  return {
    ...version,
    history: [...base.history, version],
    records: { ...Object.fromEntries(kept), latest: version, [id]: version },
    deletions: { ...base.deletions, [base.id]: version },
  };
}

export interface Change {
  readonly does: 'rename' | 'remove';
  readonly kind: FileKind;
  readonly file?: StoredFile;
  /** The content that is published from this moment on, if another than before. */
  readonly publishes?: Snapshot;
}

/** What a command does to the pair, one at a time. Other commands, and a kill, may come before each step. */
export type Step = { readonly does: 'open'; readonly kind: FileKind } | { readonly does: 'lock' } | Change;

/** How a command ends. Its user learns of a publication or a refusal; a replica serves what it has read. */
export interface Outcome {
  readonly acknowledges?: string;
  readonly isRefused?: true;
  readonly serves?: Snapshot | undefined;
}

/**
 * A program that reads or writes the pair. An open returns the file, if there is one. The lock is freed when the command
 * ends or is killed.
 * @param live what the replica serves, if the command is that of a replica
 */
export type Command = (rules: Rules, live?: Snapshot) => Generator<Step, Outcome, StoredFile | undefined>;
type Steps<T> = Generator<Step, T, StoredFile | undefined>;

const open = (kind: FileKind) => ({ does: 'open', kind }) as const;
const rename = (kind: FileKind, file: StoredFile) => ({ does: 'rename', kind, file }) as const;
const removeChanges = { does: 'remove', kind: 'changes' } as const;

function* openPair(rules: Rules): Steps<Pair> {
  if (rules.opensChangesFirst) return { changes: yield open('changes'), whole: yield open('whole') };
  return { whole: yield open('whole'), changes: yield open('changes') };
}

/** Returns the pair when no other command can change it any more. */
function* lock(rules: Rules): Steps<Pair> {
  if (rules.locks) yield { does: 'lock' };
  return yield* openPair(rules);
}

/** Publishes a successor of the published content. Its changes are those since the whole file that it has read. */
export function feed(id: string): Command {
  return function* (rules) {
    const read = yield* openPair(rules);
    const base = contentOf(read, rules);
    if (!base || !read.whole) return { isRefused: true };
    const next = successorOf(base, id);
    const found = yield* lock(rules);
    if (rules.checksBase && contentOf(found, rules)?.id !== base.id) return { isRefused: true };
    if (rules.checksEpoch && found.whole?.epoch !== read.whole.epoch) return { isRefused: true };
    yield { ...rename('changes', changesFile(next, read.whole)), publishes: next };
    return { acknowledges: id };
  };
}

/** Makes the published content whole, in its epoch. The changes stay: the next feed leaves out what is whole. */
export function tidy(name: string): Command {
  return function* (rules) {
    const read = yield* openPair(rules);
    const content = contentOf(read, rules);
    if (!content || !read.whole || content.id === read.whole.id) return {};
    const found = yield* lock(rules);
    if (rules.tidiesSameFile && found.whole?.inode !== read.whole.inode) return {};
    if (rules.tidiesHistory && !hasInHistory(contentOf(found, rules), content)) return {};
    yield rename('whole', wholeFile(content, read.whole.epoch, name));
    return {};
  };
}

/** Publishes one whole file: a full build, a file from elsewhere, or a rollback. */
export function publish(snapshot: Snapshot, name: string): Command {
  return function* (rules) {
    if (rules.locks) yield { does: 'lock' };
    const file = wholeFile(snapshot, name, name);
    const steps = [{ ...rename('whole', file), publishes: snapshot }, removeChanges];
    yield* rules.renamesFirst ? steps : steps.reverse();
    return { acknowledges: snapshot.id };
  };
}

/**
 * Installs a pair that another machine has pushed. Pulls follow the order of the pushes. If the changes apply to the
 * whole file that is here, they suffice.
 */
export function pull({ whole, changes }: Pair & { readonly whole: StoredFile }): Command {
  return function* (rules) {
    const pulled = contentOf({ whole, changes }, rules) ?? whole;
    const found = yield* lock(rules);
    const isEnough = changes && found.whole && appliesTo(changes, found.whole, rules);
    const before = contentOf(found, rules);
    const between = contentOf({ ...found, whole }, rules);
    const undoes = before && !hasInHistory(between, before);
    const isMadeWhole = rules.pullMakesWhole && undoes && !isEnough;
    const installed = isMadeWhole ? wholeFile(pulled, whole.epoch, 'made whole') : whole;
    const steps: Step[] = [changes && !isMadeWhole ? rename('changes', changes) : removeChanges];
    if (!isEnough) steps.unshift(rename('whole', installed));
    yield* rules.pullsWholeFirst ? steps : steps.reverse();
    return { acknowledges: pulled.id };
  };
}

/** Starts or refreshes a replica. If the changes have all that it lacks, it needs only the header of the whole file. */
export const refresh: Command = function* (rules, live) {
  const { changes, whole } = yield* openPair(rules);
  const isCurrent = !rules.refreshesByPair || (changes && whole && appliesTo(changes, whole, rules));
  if (changes && live && isCurrent && covers(changes, live, rules)) return { serves: merge(changes, live) };
  return { serves: contentOf({ whole, changes }, rules) };
};
