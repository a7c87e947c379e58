import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { DEFAULT_SAMPLE } from '../../src/sample/sample-options.ts';
import { writeSample } from '../../src/sample/write-sample.ts';
import { KEY_BYTES } from '../../src/snapshot/collection-course.ts';
import { CONTENT_TABLES } from '../../src/snapshot/format.ts';
import { crossedSize, indexSizes } from '../../src/snapshot/index-sizes.ts';
import type { IndexSize } from '../../src/snapshot/index-sizes.ts';
import { COLLECTIONS } from '../../src/snapshot/layout.ts';
import { memoryNeed } from '../../src/snapshot/memory-need.ts';
import type { ManifestOrganization } from '../../src/snapshot/manifest.ts';
import { readSnapshot } from '../../src/snapshot/read-snapshot.ts';
import { nextFieldsBytes } from '../../src/snapshot/sessions-loader.ts';
import { imageBytes } from '../../src/store/image-bytes.ts';
import type { OrganizationImage } from '../../src/store/organization-image.ts';
import { PAIR_BYTES, postingIndexBytes } from '../../src/store/posting-index.ts';
import { postingsByInstantBytes } from '../../src/store/postings-by-instant.ts';
import { folderForAll } from '../temporary-folder.ts';
import {
  FULL_EVENT_IMPORTED,
  FULL_ORDER,
  FULL_TICKET,
  FULL_TICKET_OFFER,
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from './full-records.ts';
import { build, writeImport } from './import-folder.ts';
import type { Import } from './import-folder.ts';
import { randomFrom } from './random.ts';

/** What an organization may be said to need beyond a quarter more than it holds: where it has but a few records. */
const ALLOWED_BYTES = 4096;

/**
 * What is counted beyond what an image holds, since only its content tells: keys, lists by an instant, lists that an index
 * of pairs has in common with another, digits.
 */
function unknownBytes(image: OrganizationImage, declared: ManifestOrganization): number {
  const indexes = COLLECTIONS.flatMap((layout) => {
    const { count, postings } = image[layout.name];
    const sizes = indexSizes(layout, declared);
    const sizeOf = (index: string) => sizes.get(index) ?? expect.fail(`no index ${index}`);
    const counted = ({ pairs, keys, mayBeLong }: IndexSize, keyBytes: number) => {
      const isByInstant = mayBeLong && layout.instants.length > 0;
      const byInstant = isByInstant ? postingsByInstantBytes(pairs, keys, count) : 0;
      return postingIndexBytes(pairs, keys, keys * keyBytes) + byInstant;
    };
    return [
      -imageBytes(postings),
      ...[...sizes.values()].map((size) => counted(size, KEY_BYTES)),
      ...layout.composites.map(([first, second]) =>
        counted(crossedSize(sizeOf(first), sizeOf(second)), PAIR_BYTES),
      ),
    ];
  });
  const { count, records, nextFields } = image.sessions;
  const digits = nextFieldsBytes(count, records.bytes.length) - nextFields.bytes.length;
  return indexes.reduce((total, bytes) => total + bytes, digits);
}

/** Builds the snapshot of an import folder, and expects its need to be what the image of each organization holds. */
async function expectNeedOf(folder: string): Promise<void> {
  const output = `${folder}.sqlite`;
  await build(folder, output);
  let declared: readonly ManifestOrganization[] = [];
  const { organizations } = readSnapshot(output, {
    admit: (manifest) => (declared = manifest.organizations),
  });
  organizations.forEach((image, i) => {
    const actual = imageBytes(image);
    const { held } = memoryNeed([declared[i]]);
    expect(held - unknownBytes(image, declared[i]), image.organizationId).to.equal(actual);
    expect(held, image.organizationId).to.be.within(actual, actual * 1.25 + ALLOWED_BYTES);
  });
  const { held, peak } = memoryNeed(declared);
  expect(held).to.be.at.least(imageBytes(organizations)).and.below(peak);
}

/** An organization of random size whose ids are of random length, and whose records are short or long. */
function randomImport(seed: number): Import {
  const { below, pick } = randomFrom(seed);
  const pad = 'x'.repeat(below(30));
  const isFull = below(2) === 1;
  const full = (record: object) => (isFull ? record : {});
  const many = <T>(most: number, make: (i: number) => T) =>
    Array.from({ length: below(most) }, (_, i) => make(i));
  const eventIds = many(60, (i) => `evt_${pad}${i}`);
  const someEvent = () => (eventIds.length === 0 ? 'none' : pick(eventIds));
  const orderIds = many(300, (i) => `ord_${pad}${i}`);
  const owned = inOrganization('only');
  const sessions = eventIds.flatMap((eventId, i) =>
    Array.from({ length: 1 + below(6) }, (_, j) => minimalSession(`ses_${pad}${i}_${j}`, eventId)),
  );
  return {
    organizations: [{ organizationId: 'only', name: 'Only' }],
    events: eventIds.map((id) => owned({ ...minimalEvent(id), ...full(FULL_EVENT_IMPORTED), id })),
    sessions: sessions.map(owned),
    tickets: many(700, (i) => {
      const ids = {
        ticketId: `tkt_${pad}${i}`,
        eventId: someEvent(),
        qrCode: `QR${pad}${i}`,
        orderId: orderIds.length === 0 ? `${pad}${below(300)}` : pick(orderIds),
      };
      return owned({ ...minimalTicket(ids.ticketId), ...full(FULL_TICKET), ...ids });
    }),
    orders: orderIds.map((orderId) => {
      const ids = {
        orderId,
        placedItems: [{ eventId: someEvent() }, { eventId: someEvent() }],
      };
      return owned({ ...minimalOrder(ids.orderId), ...full(FULL_ORDER), ...ids });
    }),
    offers: many(60, (i) => {
      const ids = { offerId: `off_${pad}${i}`, eventId: someEvent() };
      return owned({ ...minimalOffer(ids.offerId, 'TICKET'), ...full(FULL_TICKET_OFFER), ...ids });
    }),
  };
}

describe('The memory that a snapshot is said to need', () => {
  const inFolder = folderForAll();

  for (const [organizations, events, tickets] of [
    [1, 1, 1],
    [3, 24, 4000],
    [25, 40, 500],
  ]) {
    it(`is a little more than a sample of ${organizations} organizations and ${tickets} tickets holds`, async () => {
      const output = inFolder(`sample-${organizations}`);
      await writeSample({ ...DEFAULT_SAMPLE, organizations, events, tickets, output });
      await expectNeedOf(output);
    });
  }

  for (let seed = 1; seed <= 12; seed++) {
    it(`is a little more than a random snapshot holds (seed ${seed})`, async () => {
      const folder = inFolder(`random-${seed}`);
      writeImport(folder, randomImport(seed));
      await expectNeedOf(folder);
    });
  }

  const declared = (sizeOf: (table: string) => readonly [rowCount: number, recordBytes: number]) => ({
    organizationId: 'north',
    name: 'North',
    digest: '',
    segments: new Map(
      CONTENT_TABLES.map(({ name }) => {
        const [rowCount, recordBytes] = sizeOf(name);
        return [name, { firstRow: 0, rowCount, recordBytes }];
      }),
    ),
  });
  const segments = (rowCount: number, recordBytes: number): ManifestOrganization =>
    declared(() => [rowCount, recordBytes]);

  it('at its peak is for one organization after the other, not for all that they need beside their images', () => {
    const [one, ten] = [1, 10].map((count) => memoryNeed(Array(count).fill(segments(100_000, 1e8))));
    expect(ten.held).to.equal(one.held * 10);
    expect(ten.peak - ten.held).to.be.below(2 * (one.peak - one.held));
  });

  it('at its peak is more when two threads read than when one does', () => {
    const organization = segments(1_000_000, 1e9);
    const [alone, together] = [Infinity, 0].map((leastShared) => memoryNeed([organization], leastShared));
    expect(together.held).to.equal(alone.held);
    if (availableParallelism() > 1) expect(together.peak).to.be.above(alone.peak);
  });

  it('at its peak is a tenth more than what is held, of millions of records too', () => {
    const rows = new Map([
      ['tickets', 10_000_000],
      ['orders', 4_000_000],
      ['order_events', 4_000_000],
    ]);
    const large = declared((table) => {
      const rowCount = rows.get(table) ?? 10_000;
      return [rowCount, table === 'order_events' ? 0 : rowCount * 1100];
    });
    const { held, peak } = memoryNeed([large]);
    expect(peak).to.be.below(held * 1.1);
  });

  it('is what the thread takes when there is nothing to load', () => {
    const { held, peak } = memoryNeed([]);
    expect(held).to.equal(0);
    expect(peak).to.be.within(40e6, 80e6);
  });
});
