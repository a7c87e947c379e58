import Database from 'better-sqlite3';
import type { Json } from '../../contract/field.ts';
import { objectIn, textIn } from '../format/json-values.ts';
import { COLLECTIONS, TICKETS } from '../format/layout.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { recordsIn } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { type OnProgress, runCounter } from '../load/read-snapshot.ts';
import { type Run, RunReader } from '../load/run-reader.ts';
import { compileNormalize } from './import/import-schema.ts';
import { LineNotes } from './import/line-notes.ts';
import { rulesOf, type Warning } from './import/rules.ts';
import { Mentions, warningsOf } from './staging/mentions.ts';
import { StagedIds } from './staging/staged-ids.ts';
import { registerSortKeys, sortKey } from './staging/staging-file.ts';

/**
 * Finds the warnings about the records of a snapshot file, run by run.
 * @throws RefusedSnapshot when a run is missing or damaged
 */
export function reviewSnapshot(path: string, onProgress?: OnProgress): Warning[] {
  using snapshot = openSnapshot(path);
  const { organizations } = snapshot.manifest;
  // SQLite removes a database without a name when it is closed.
  const database = new Database('');
  try {
    database.exec('BEGIN');
    registerSortKeys(database);
    const ids = new StagedIds(database);
    const mentions = new Mentions(database);
    database.exec('CREATE TABLE qr_codes (organization INTEGER, value TEXT, place INTEGER, id TEXT)');
    const addQrCode = database.prepare('INSERT INTO qr_codes VALUES (?, ?, ?, ?)');
    const reader = new RunReader(snapshot.database);
    const onRun = runCounter(recordsIn(snapshot.manifest, COLLECTIONS), onProgress);
    for (const layout of COLLECTIONS) {
      const { name, resource } = layout;
      const rules = rulesOf(name);
      const normalizers = new Map(
        Object.entries(resource.variants).map(([type, fields]) => [
          type,
          compileNormalize(fields, [], rules),
        ]),
      );
      for (const [organization, { organizationId, runs }] of organizations.entries()) {
        for (const entry of runs[name]) {
          for (const [i, json] of recordsOf(reader.read(layout, organizationId, entry)).entries()) {
            const notes = new LineNotes();
            const record = objectIn(json) ?? {};
            const [row, id] = [entry.firstRow + i, textIn(record[resource.id])];
            (normalizers.get('') ?? normalizers.get(textIn(record['type'])))?.(record, notes);
            mentions.add(organization, row, id, notes.mentions);
            if (layout !== TICKETS) ids.addOfBase(name, organization, id, row, 0n);
            else addQrCode.run(organization, JSON.stringify(record['qrCode']), row, sortKey(id));
          }
          onRun(layout, entry);
        }
      }
    }
    mentions.flush();
    return warningsOf(
      database,
      ['main'],
      organizations.map(({ organizationId }) => organizationId),
      'SELECT * FROM qr_codes',
    );
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}

/** Parses the records of a run, after a check of its digest. */
function recordsOf(run: Run): readonly Json[] {
  run.checkDigest();
  try {
    const records = JSON.parse(`[${run.records.toString()}]`) as Json[];
    if (records.length === run.entry.recordCount) return records;
  } catch {
    // The refusal says the same.
  }
  const message = `the records of a run at row ${run.entry.firstRow} are not ${run.entry.recordCount} JSON objects`;
  throw new RefusedSnapshot('inconsistent', message);
}
