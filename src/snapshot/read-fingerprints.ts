import type { CollectionName } from '../contract/operations.ts';
import { takeRows } from './take-column.ts';
import { Fingerprints } from './fingerprints.ts';
import { CONTENT_TABLES, RECORD_COLUMN } from './format.ts';
import { byCollection, COLLECTIONS, SESSIONS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { ContentFile } from './content-file.ts';
import { checkDigest, readContent } from './read-content.ts';
import type { OnProgress, TableTaker } from './read-content.ts';
import { eachValue, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { asRefusal } from './snapshot-file.ts';

const OFFER_EVENTS = 'offer_events';

/**
 * Reads an organization of a snapshot file through, and checks its digest. The fingerprint of a record is made of its
 * JSON text, that of a session also of the id of its event, and that of an offer of the ids of the events that hold it:
 * these stand elsewhere.
 * @throws RefusedSnapshot
 */
export function readFingerprints(
  path: string,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): Record<CollectionName, Fingerprints> {
  const found = byCollection(
    ({ table }) => new Fingerprints(segmentOf(organization.segments, table).rowCount),
  );
  const takers = new Map<string, TableTaker>();
  for (const layout of COLLECTIONS) {
    takers.set(layout.table, {
      take: (chunk) => {
        takeRecords(found[layout.name], layout, chunk);
        if (layout === SESSIONS) takeEventsOfSessions(found.sessions, found.events.ids, chunk);
      },
    });
  }
  takers.set(OFFER_EVENTS, {
    take: (chunk) => {
      takeEventsOfOffers(found.offers, chunk);
    },
  });
  const file = new ContentFile(path);
  try {
    checkDigest(organization, readContent(file, organization, CONTENT_TABLES, takers, onProgress));
    return found;
  } catch (error) {
    throw asRefusal(error);
  } finally {
    file.close();
  }
}

function takeRecords(fingerprints: Fingerprints, { table, idColumn }: CollectionLayout, chunk: Chunk): void {
  eachValue(chunk, idColumn, (bytes, start, end) => {
    const id = readText(bytes, start, end);
    if (!fingerprints.name(id)) throw new RefusedSnapshot('duplicate-id', `${table} has "${id}" twice`);
  });
  eachValue(chunk, RECORD_COLUMN, (bytes, start, end, row) => {
    fingerprints.add(row, bytes.subarray(start, end));
  });
}

function takeEventsOfSessions(sessions: Fingerprints, eventIds: readonly string[], chunk: Chunk): void {
  const rows = rowsIn(chunk, 'event_row', eventIds.length);
  for (const [i, eventRow] of rows.entries()) sessions.add(chunk.firstRow + i, eventIds[eventRow]);
}

function takeEventsOfOffers(offers: Fingerprints, chunk: Chunk): void {
  const rows = rowsIn(chunk, 'offer_row', offers.ids.length);
  eachValue(chunk, 'event_id', (bytes, start, end, row) => {
    offers.add(rows[row - chunk.firstRow], bytes.subarray(start, end));
  });
}

/** The rows of another table, of `count` rows, that a column of a chunk names. */
function rowsIn(chunk: Chunk, column: string, count: number): Uint32Array {
  const rows = new Uint32Array(chunk.rowCount);
  takeRows(chunk, column, count, rows, chunk.firstRow);
  return rows;
}
