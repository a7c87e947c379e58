/** Responses of the admin port. docs/reference.md describes their paths. */

export interface Summary {
  readonly version: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly snapshotFolder: { readonly path: string; readonly complaint: string | null };
  readonly maxSnapshotAgeSeconds: number | null;
  readonly threads: { readonly count: number; readonly listening: number; readonly replaced: number };
  readonly connections: { readonly open: number; readonly limit: number };
  readonly log: { readonly droppedLines: number };
  readonly keys: KeysSummary;
  readonly memory: Memory;
  readonly snapshots: readonly LiveSnapshot[];
  readonly retainedSnapshots: readonly RetainedSnapshot[];
  readonly refused: readonly RefusedFile[];
  readonly loading: LoadInProgress | null;
  /** Latest first. */
  readonly loads: readonly LoadOutcome[];
}

interface KeysSummary {
  readonly file: string;
  readonly valid: number;
  readonly validWithoutData: number;
  readonly complaint: string | null;
  readonly warning: string | null;
}

export interface Memory {
  readonly limitBytes: number;
  /** Live and retained. */
  readonly heldBytes: number;
  readonly retainedBytes: number;
  readonly residentBytes: number;
}

interface SnapshotData {
  readonly file: string;
  readonly snapshotId: string;
  readonly organizationCount: number;
  readonly bytesHeld: number;
}

export interface LiveSnapshot extends SnapshotData {
  readonly isFilePresent: boolean;
  readonly producedAt: string;
  readonly ageSeconds: number;
  readonly warning: string | null;
  readonly records: RecordCounts;
}

/** Numbers of records by collection. */
type RecordCounts = Readonly<Record<string, number>>;

interface RetainedSnapshot extends SnapshotData {
  readonly replacedSecondsAgo: number;
  readonly lastUsedSecondsAgo: number;
  readonly goneInSeconds: number;
}

interface RefusedFile {
  readonly file: string;
  readonly refusedAt: string;
  readonly reason: string;
  readonly detail: string;
  readonly advice: string;
  readonly nextTryAt: string | null;
}

interface LoadInProgress {
  readonly file: string;
  readonly startedAt: string;
}

export type LoadOutcome = LoadInProgress & { readonly durationMs: number } & (
    | { readonly outcome: 'live'; readonly organizations: number; readonly rows: number }
    | { readonly outcome: 'refused'; readonly reason: string; readonly detail: string }
  );

/** Requests of some seconds. */
export interface Interval {
  /** Seconds since the epoch. */
  readonly until: number;
  readonly seconds: number;
  readonly requests: number;
  readonly tooManyRequests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** Percentiles of the time to respond, in seconds. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Organization {
  readonly organizationId: string;
  readonly file: string;
  readonly records: RecordCounts;
  readonly bytesHeld: number;
}

export interface Key {
  readonly keyId: string;
  readonly organizationId: string;
  readonly label: string;
  readonly state: 'valid' | 'expired' | 'revoked';
  readonly expiresAt: string | null;
  readonly hasData: boolean;
  readonly lastUsedAt: string | null;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly totalPages: number;
  readonly total: number;
}
