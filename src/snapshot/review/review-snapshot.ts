import type { Json } from '../../contract/field.ts';
import { type JsonObject, objectsIn } from '../format/json-values.ts';
import { type CollectionLayout, REFERENTS_FIRST } from '../format/layout.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { recordsIn, type RunEntry } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { type OnProgress, runCounter } from '../load/read-snapshot.ts';
import { RunReader } from '../load/run-reader.ts';
import { type Findings, RecordReview } from './record-review.ts';
import { Review, type Warning } from './review.ts';

/**
 * Reviews the records of a snapshot file, run by run.
 * @throws RefusedSnapshot when a run is missing or damaged
 */
export function reviewSnapshot(path: string, onProgress?: OnProgress): Warning[] {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  const review = new Review();
  try {
    const reader = new RunReader(database);
    const recordsOf = (layout: CollectionLayout, organization: number, entry: RunEntry) =>
      readRecords(reader, layout, manifest.organizations[organization].organizationId, entry);
    const onRun = runCounter(recordsIn(manifest, REFERENTS_FIRST), onProgress);
    for (const layout of REFERENTS_FIRST) {
      const records = new RecordReview(layout);
      for (const [i, { runs }] of manifest.organizations.entries()) {
        for (const entry of runs[layout.name]) {
          const findings: Findings = [];
          for (const [row, record] of recordsOf(layout, i, entry).entries())
            records.addFindings(i, entry.firstRow + row, record, findings);
          review.add(layout, findings);
          onRun(layout, entry);
        }
      }
    }
    return review.finish(
      manifest.organizations.map(({ organizationId }) => organizationId),
      (layout, organization, row) => {
        const runs = manifest.organizations[organization].runs[layout.name];
        const entry = runs.findLast(({ firstRow }) => firstRow <= row);
        if (entry === undefined) throw new TypeError(`no row ${row} of ${layout.name}`);
        return recordsOf(layout, organization, entry)[row - entry.firstRow];
      },
    );
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Reads and parses the records of a run, after a check of its digest. */
function readRecords(
  reader: RunReader,
  layout: CollectionLayout,
  organizationId: string,
  entry: RunEntry,
): readonly JsonObject[] {
  const run = reader.read(layout, organizationId, entry);
  run.checkDigest();
  const records = parsed(`[${run.records.toString()}]`);
  if (records.length === entry.recordCount) return records;
  throw new RefusedSnapshot(
    'inconsistent',
    `the records of ${layout.table} at row ${entry.firstRow} are not ${entry.recordCount} JSON objects`,
  );
}

function parsed(list: string): readonly JsonObject[] {
  try {
    return objectsIn(JSON.parse(list) as Json);
  } catch {
    return [];
  }
}
