import { mkdirSync, renameSync } from 'node:fs';
import { alteredCopy, asSnapshot, snapshotIdOf } from './altered-snapshot.ts';
import { build, type Import, type ImportRecord, writeImport } from './import-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalTicket,
  times,
} from './records.ts';
import type { ReplicaUnderTest } from './replica-under-test.ts';
import type { InFolder } from './temporary-folder.ts';

/** The mark of built records, which SQL changes to that of a snapshot. Minutes carry the mark of sessions. */
export const MARK = 'mark-0000';
const MARKED_MINUTES = 10_000;
const MARKS = /"(?:[a-zA-Z]+":"mark-|durationMinutes":1)(\d{4})\b/g;

/** An import whose records all carry a mark. Each variant has different records in a different order. */
export function markedImport(organizationIds: readonly string[], variant: number): Import {
  const isReversed = variant % 2 === 1;
  const at = (i: number) =>
    new Date(Date.UTC(2026, 0, 1) + (isReversed ? 1000 - i : i) * 1_000_000).toISOString();
  const events = 6 + variant;
  const ofAll = (count: number, make: (i: number) => ImportRecord) =>
    organizationIds.flatMap((organizationId) => times(count, make).map(inOrganization(organizationId)));
  return {
    organizations: organizationIds.map((organizationId) => ({ organizationId, name: organizationId })),
    events: ofAll(events, (i) =>
      minimalEvent(`evt_${i}`, { title: MARK, createdAt: at(i), tags: [`tag ${(i + variant) % 3}`] }),
    ),
    sessions: ofAll(events * 3, (i) =>
      minimalSession(`ses_${i}`, `evt_${i % events}`, {
        startAt: at(i * 7),
        durationMinutes: MARKED_MINUTES,
      }),
    ),
    tickets: ofAll(120 + variant * 11, (i) =>
      minimalTicket(`tkt_${i}`, {
        offerName: MARK,
        issuedAt: at(i),
        updatedAt: at(i * 2),
        eventId: `evt_${i % events}`,
        eventSessionId: `ses_${i % (events * 3)}`,
        orderId: `ord_${i % 40}`,
        qrCode: `qr-${(i + variant) % 50}`,
      }),
    ),
    orders: ofAll(40 + variant * 5, (i) =>
      minimalOrder(`ord_${i}`, {
        orderNumber: MARK,
        status: i % 3 === variant % 3 ? 'PENDING' : 'FULFILLED',
        createdAt: at(i),
        updatedAt: at(i * 3),
        customer: { customerId: `c${i}`, email: `name${(i + variant) % 7}@example.org` },
        placedItems: [{ eventId: `evt_${i % events}`, quantity: 1 }],
      }),
    ),
    offers: ofAll(8 + variant, (i) =>
      minimalOffer(`off_${i}`, 'TICKET', {
        name: MARK,
        eventId: `evt_${i % events}`,
        createdAt: at(i),
        pricing: [minimalPricing('p', { resaleEnabled: (i + variant) % 2 === 0 })],
      }),
    ),
  };
}

/** Returns SQL that gives every record of a snapshot the mark `n`. */
function markedAs(n: number): string {
  const digits = String(n).padStart(4, '0');
  const mark = (table: string, from: string, to: string) =>
    // Both texts have the same length, so the record lengths stay.
    `UPDATE ${table} SET records = replace(records, '${from}', '${to}');`;
  return [
    ...['event_runs', 'ticket_runs', 'order_runs', 'offer_runs'].map((table) =>
      mark(table, MARK, `mark-${digits}`),
    ),
    mark('session_runs', `"durationMinutes":${MARKED_MINUTES}`, `"durationMinutes":1${digits}`),
  ].join('\n');
}

/** Returns the marks in a body, one for each record. */
export function marksIn(body: string): number[] {
  return Array.from(body.matchAll(MARKS), ([, digits]) => Number(digits));
}

/** The successive snapshots of a test. The `n`th one has `n` as the mark of every record. */
export class MarkedSnapshots {
  readonly #inFolder: InFolder;
  readonly #variants: number;

  private constructor(inFolder: InFolder, variants: number) {
    this.#inFolder = inFolder;
    this.#variants = variants;
  }

  /** Builds a snapshot of each import, in the order in which they take turns. By default: one of `north`. */
  static async build(
    inFolder: InFolder,
    imports: readonly Import[] = [markedImport(['north'], 0)],
  ): Promise<MarkedSnapshots> {
    for (const [i, files] of imports.entries()) {
      writeImport(inFolder(`import-${i}`), files);
      await build(inFolder(`import-${i}`), inFolder(`built-${i}`));
    }
    return new MarkedSnapshots(inFolder, imports.length);
  }

  /** Makes the `n`th snapshot. Returns its path, outside the snapshot folder. */
  draft(n: number, inFolder = this.#inFolder): string {
    const built = this.#inFolder(`built-${n % this.#variants}`);
    return alteredCopy(built, inFolder(`draft-${n}`), asSnapshot(n), markedAs(n));
  }

  /** Renames the `n`th snapshot into the snapshot folder of a replica. */
  place(n: number, inFolder = this.#inFolder): void {
    mkdirSync(inFolder('snapshots'), { recursive: true });
    renameSync(this.draft(n, inFolder), inFolder('snapshots/north.sqlite'));
  }

  /** Places the `n`th snapshot, and waits until it is live. */
  async publish(replica: ReplicaUnderTest, n: number, inFolder = this.#inFolder): Promise<void> {
    this.place(n, inFolder);
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });
  }
}
