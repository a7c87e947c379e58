import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
  const files = FILES.map(async (file) => {
    const lines = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
    return [basename(file, '.ndjson'), lines.map((line) => JSON.parse(line) as unknown)];
  });
  return Object.fromEntries(await Promise.all(files)) as Sample;
}
