import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { orderRecord } from '../../../scripts/sample/order-record.ts';
import type { eventRecord, offerRecords, sessionRecords } from '../../../scripts/sample/season-records.ts';
import type { issueTickets } from '../../../scripts/sample/tickets.ts';

export interface Sample {
  readonly organizations: { organizationId: string; name: string }[];
  readonly events: ReturnType<typeof eventRecord>[];
  readonly sessions: ReturnType<typeof sessionRecords>;
  readonly tickets: ReturnType<typeof issueTickets>;
  readonly orders: ReturnType<typeof orderRecord>[];
  readonly offers: ReturnType<typeof offerRecords>;
}

export const FILES = ['events', 'offers', 'orders', 'organizations', 'sessions', 'tickets'].map(
  (kind) => `${kind}.ndjson`,
);

export async function readSample(folder: string): Promise<Sample> {
  const read = async <T>(kind: string): Promise<T[]> => {
    const text = await readFile(join(folder, `${kind}.ndjson`), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  };
  return {
    organizations: await read('organizations'),
    events: await read('events'),
    sessions: await read('sessions'),
    tickets: await read('tickets'),
    orders: await read('orders'),
    offers: await read('offers'),
  };
}
