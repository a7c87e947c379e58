import { parseObject } from '../format/json-values.ts';
import { COLLECTIONS, TICKETS } from '../format/layout.ts';
import { type OnProgress, recordCounter } from '../load/read-snapshot.ts';
import { LineNotes } from './import/line-notes.ts';
import { compileVariants, variantOf } from './import/record-reader.ts';
import type { Warning } from './import/rules.ts';
import { EarlierSnapshot } from './staging/earlier-snapshot.ts';
import { Mentions, warningsOf } from './staging/warnings.ts';
import { StagedIds } from './staging/staged-ids.ts';
import { sortKey } from './staging/staging-file.ts';
import { newDatabase } from '../write/new-file.ts';

export class SuspectImport extends Error {
  override readonly name = 'SuspectImport';
  readonly warnings: readonly Warning[];

  constructor(warnings: readonly Warning[]) {
    super('the import contains records that look wrong');
    this.warnings = warnings;
  }
}

/**
 * Finds the warnings about the records of a snapshot file.
 * @throws RefusedSnapshot when it is damaged
 */
export function reviewSnapshot(path: string, onProgress?: OnProgress): Warning[] {
  using snapshot = new EarlierSnapshot(path);
  const organizationIds = [...snapshot.organizations.keys()];
  const onBlock = recordCounter(snapshot.count, onProgress);
  // SQLite removes a database without a name when it is closed.
  using database = newDatabase('');
  database.exec('CREATE TABLE qr_codes (organization INTEGER, value TEXT, place INTEGER, id BLOB)');
  const addQrCode = database.prepare('INSERT INTO qr_codes VALUES (?, ?, ?, ?)');
  const ids = new StagedIds(database);
  const mentions = new Mentions(database);
  for (const layout of COLLECTIONS) {
    const variants = compileVariants(layout);
    for (const [organization, block] of snapshot.blocks(layout, organizationIds)) {
      const notes = new LineNotes();
      notes.producedAt = snapshot.producedAt;
      for (const [i, row] of block.rows.entries()) {
        notes.mentions = [];
        const record = parseObject(block.recordAt(i).toString()) ?? {};
        const id = block.idAt(i);
        variantOf(variants, record)?.normalize(record, notes);
        mentions.add(organization, row, id, notes.mentions);
        if (layout !== TICKETS) ids.addOfBase(layout.name, organization, id, row, 0n);
        else addQrCode.run(organization, JSON.stringify(record['qrCode']), row, sortKey(id));
      }
      onBlock(block);
    }
  }
  mentions.write();
  return warningsOf(database, ['main'], organizationIds, 'SELECT * FROM qr_codes');
}
