import { hash } from 'node:crypto';
import { decodeText } from '../store/texts.ts';
import { parseObject, textIn } from './format/json-values.ts';
import { OFFERS, SESSIONS } from './format/layout.ts';
import type { CollectionLayout } from './format/layout.ts';
import type { RunEntry } from './format/manifest.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';
import { RECORDS_COLUMN } from './format/schema.ts';
import type { OnProgress } from './load/read-snapshot.ts';
import { checkRunDigest, columnOf, heldTwice, lengthsOf, listsOf, textsOf } from './load/run-reader.ts';
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
      if (fingerprints.has(id)) throw heldTwice(layout, id);
      fingerprints.set(id, fingerprint);
    }
    onProgress?.(organizationId, layout.name, fingerprints.size);
  }
  return fingerprints;
}

function* runFingerprints(
  layout: CollectionLayout,
  entry: RunEntry,
  run: Run,
): Generator<[id: string, fingerprint: string]> {
  const lengths = lengthsOf(layout, entry, run);
  const beside = textsBeside(layout, entry, run);
  const records = columnOf(run, RECORDS_COLUMN);
  let start = 0;
  for (const [i, length] of lengths.entries()) {
    const record = records.toString('utf8', start, start + length);
    const id = textIn(parseObject(record)?.[layout.resource.id]);
    if (id === '')
      throw new RefusedSnapshot(
        'inconsistent',
        `record ${entry.firstRow + i} of ${layout.table} is not the JSON text of a record with its id`,
      );
    yield [id, hash('sha256', `${record}\n${beside[i] ?? ''}`, 'base64url')];
    start += length + 1;
  }
}

/** Returns for each record, as text, the events that it does not name itself. */
function textsBeside(layout: CollectionLayout, entry: RunEntry, run: Run): readonly string[] {
  if (layout === SESSIONS) {
    const { texts, textOf } = textsOf(layout, 'event_id', entry, run);
    return Array.from(textOf, (text) => decodeText(texts, text));
  }
  if (layout === OFFERS) {
    const { texts, counts } = listsOf(layout, 'event_ids', entry, run);
    let next = 0;
    return Array.from(counts, (length) => {
      const eventIds = Array.from({ length }, () => decodeText(texts, next++));
      // The order of a list does not matter.
      return JSON.stringify(eventIds.sort());
    });
  }
  return [];
}
