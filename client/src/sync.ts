import type { Answer } from './answer.ts';
import type { Change } from './contract.ts';
import type { RequestOptions } from './list.ts';
import { encodeQuery } from './query.ts';
import type { Transport } from './transport.ts';

/** A sync keeps a copy of an organization's records. Each round applies one stream of changes in one transaction. */

type Line<Kind extends Change['change']> = Readonly<Extract<Change, { change: Kind }>>;

/** A record with its id in its collection. A session has the id of its event, which the record lacks. */
export type Entry = Line<'put'>;
export type CollectionName = Entry['collection'];
export type RecordKey = Pick<Entry, 'collection' | 'id'>;

/** The snapshot that a round has copied, and `next`, the token from which the next round goes on. Plain JSON. */
export type SyncState = Line<'end'>;

/** The copy that a sync writes. A round calls `begin` when lines have arrived, and `commit` or `rollback` last. */
export interface Copy {
  begin(): void | Promise<void>;
  /** Removes all records: the round brings all of them again. */
  clear(): void | Promise<void>;
  /** Removes records. The copy may lack some of them. */
  remove(keys: readonly RecordKey[]): void | Promise<void>;
  /** Adds records, or replaces those with the same collection and id. */
  put(entries: readonly Entry[]): void | Promise<void>;
  /** Commits, together with `state.next`. */
  commit(state: SyncState): void | Promise<void>;
  rollback(): void | Promise<void>;
}

export interface SyncOptions extends RequestOptions {
  /** The collections of the copy. Default: all. When another one is added, the next round copies all records. */
  readonly collections?: readonly CollectionName[] | undefined;
  /** The events of the copy, at most 10. Default: all. With others, the next round copies all of their records. */
  readonly eventIds?: readonly string[] | undefined;
}

/** Makes a round. The transport repeats one whose stream breaks off, with the same token. */
export function syncCopy(
  transport: Transport,
  copy: Copy,
  token: string | undefined,
  { collections, eventIds, signal }: SyncOptions = {},
): Promise<SyncState> {
  const query = encodeQuery({ since: token, collections, eventIds });
  const call = { operation: 'readChanges', query, accept: 'application/x-ndjson', signal } as const;
  return transport.send(call, (answer) => apply(answer, copy));
}

async function apply(answer: Answer, copy: Copy): Promise<SyncState> {
  let isBegun = false;
  let end: SyncState | undefined;
  try {
    // The service promises that each line is a change.
    for await (const lines of answer.lines() as AsyncIterable<Change[]>) {
      if (!isBegun) await copy.begin();
      isBegun = true;
      const isReset = lines[0].change === 'reset';
      const removed = lines.filter((line) => line.change === 'delete');
      const entries = lines.filter((line) => line.change === 'put');
      end = lines.findLast((line) => line.change === 'end');
      const known = Number(isReset) + removed.length + entries.length + Number(end !== undefined);
      if (known !== lines.length) throw answer.malformed('has changes that this client does not know');
      if (isReset) await copy.clear();
      if (removed.length > 0) await copy.remove(removed);
      if (entries.length > 0) await copy.put(entries);
    }
    if (end === undefined) throw answer.incomplete();
    await copy.commit(end);
    return end;
  } catch (cause) {
    try {
      if (isBegun) await copy.rollback();
    } catch (error) {
      const message = `a round failed, and then its rollback: ${String(cause)}`;
      throw new AggregateError([cause, error], message, { cause: error });
    }
    throw cause;
  }
}
