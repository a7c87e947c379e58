import { hash } from 'node:crypto';
import { decodeText } from '../store/texts.ts';
import { parseObject, textIn } from './format/json-values.ts';
import { OFFERS, SESSIONS } from './format/layout.ts';
import type { CollectionLayout } from './format/layout.ts';
import type { RunEntry } from './format/manifest.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';
import { LENGTHS_COLUMN, RECORDS_COLUMN } from './format/schema.ts';
import { readCounts, readLists, readTexts } from './load/column-values.ts';
import type { OnProgress } from './load/read-snapshot.ts';
import { checkRunDigest, columnOf, misshapen } from './load/run-reader.ts';
import type { Run, RunReader } from './load/run-reader.ts';

/** The fingerprint of each record by its id, in list order. */
export type Fingerprints = ReadonlyMap<string, string>;

/**
 * Reads some runs of a collection, and checks their digests. A fingerprint is the SHA-256 over all that is served of a
 * record.
 * @throws RefusedSnapshot
 */
export function readFingerprints(
  reader: RunReader,
  layout: CollectionLayout,
  organizationId: string,
  entries: readonly RunEntry[],
  onProgress?: OnProgress,
): Fingerprints {
  const fingerprints = new Map<string, string>();
  for (const entry of entries) {
    const run = reader.read(layout, organizationId, entry);
    checkRunDigest(layout, organizationId, entry, run);
    for (const [id, fingerprint] of runFingerprints(layout, entry, run)) {
      if (fingerprints.has(id))
        throw new RefusedSnapshot(
          'duplicate-id',
          `${layout.table} holds ${layout.resource.id} "${id}" twice`,
        );
      fingerprints.set(id, fingerprint);
    }
    onProgress?.(organizationId, layout.name, fingerprints.size);
  }
  return fingerprints;
}

function* runFingerprints(
  layout: CollectionLayout,
  { firstRow, recordCount }: RunEntry,
  run: Run,
): Generator<[id: string, fingerprint: string]> {
  const lengths = readCounts(columnOf(run, LENGTHS_COLUMN), recordCount);
  if (lengths === undefined) throw misshapen(layout, LENGTHS_COLUMN, 'length', firstRow);
  const beside = textsBeside(layout, firstRow, recordCount, run);
  const records = columnOf(run, RECORDS_COLUMN);
  let start = 0;
  for (const [i, length] of lengths.entries()) {
    const record = records.toString('utf8', start, start + length);
    const id = textIn(parseObject(record)?.[layout.resource.id]);
    if (id === '')
      throw new RefusedSnapshot(
        'inconsistent',
        `record ${firstRow + i} of ${layout.table} is not the JSON text of a record with its id`,
      );
    yield [id, hash('sha256', `${record}\n${beside[i] ?? ''}`, 'base64url')];
    start += length + 1;
  }
}

/** Returns for each record, as text, the events that it does not name itself. */
function textsBeside(layout: CollectionLayout, firstRow: number, count: number, run: Run): readonly string[] {
  if (layout === SESSIONS) {
    const eventIds = readTexts(columnOf(run, 'event_id'), count);
    if (eventIds === undefined) throw misshapen(layout, 'event_id', 'text', firstRow);
    return Array.from(eventIds.textOf, (text) => decodeText(eventIds.texts, text));
  }
  if (layout === OFFERS) {
    const lists = readLists(columnOf(run, 'event_ids'), count);
    if (lists === undefined) throw misshapen(layout, 'event_ids', 'list of texts', firstRow);
    let next = 0;
    return Array.from(lists.counts, (length) => {
      const eventIds = Array.from({ length }, () => decodeText(lists.texts, next++));
      // The order of a list does not matter.
      return JSON.stringify(eventIds.sort());
    });
  }
  return [];
}
