import { expect } from 'chai';
import { DEFAULT_SAMPLE } from '../../src/sample/sample-options.ts';
import { writeSample } from '../../src/sample/write-sample.ts';
import { CONTENT_TABLES } from '../../src/snapshot/format.ts';
import { COLLECTIONS } from '../../src/snapshot/layout.ts';
import { KEY_BYTES, memoryNeed } from '../../src/snapshot/memory-need.ts';
import type { ManifestOrganization } from '../../src/snapshot/manifest.ts';
import { readSnapshot } from '../../src/snapshot/read-snapshot.ts';
import { nextFieldsBytes } from '../../src/snapshot/sessions-loader.ts';
import { imageBytes } from '../../src/store/image-bytes.ts';
import type { OrganizationImage } from '../../src/store/organization-image.ts';
import { compositeName, postingIndexBytes } from '../../src/store/posting-index.ts';
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

/** What is counted beyond what an image holds, since only its content tells: keys, lists by an instant, digits. */
function unknownBytes(image: OrganizationImage): number {
  const indexes = COLLECTIONS.flatMap((layout) => {
    const { count, postings } = image[layout.name];
    const pairsOfKeys = layout.composites.map(([first, second]) => compositeName(first, second));
    return Object.entries(postings).map(([index, posting]) => {
      const pairs = posting.rows.length;
      const keys = pairsOfKeys.includes(index) ? 0 : pairs;
      const byInstant = layout.instants.length === 0 ? 0 : postingsByInstantBytes(pairs, 0, count);
      return postingIndexBytes(pairs, keys, keys * KEY_BYTES) + byInstant - imageBytes(posting);
    });
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
    expect(held - unknownBytes(image), image.organizationId).to.equal(actual);
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
        orderId: `${pad}${below(300)}`,
      };
      return owned({ ...minimalTicket(ids.ticketId), ...full(FULL_TICKET), ...ids });
    }),
    orders: many(300, (i) => {
      const ids = {
        orderId: `ord_${pad}${i}`,
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

  const segments = (rowCount: number, recordBytes: number): ManifestOrganization => ({
    organizationId: 'north',
    name: 'North',
    digest: '',
    segments: new Map(CONTENT_TABLES.map(({ name }) => [name, { firstRow: 0, rowCount, recordBytes }])),
  });

  it('at its peak is for one organization after the other, not for all that they need beside their images', () => {
    const [one, ten] = [1, 10].map((count) => memoryNeed(Array(count).fill(segments(100_000, 1e8))));
    expect(ten.held).to.equal(one.held * 10);
    expect(ten.peak - ten.held).to.be.below(2 * (one.peak - one.held));
  });

  it('at its peak grows with the length of records, of which a chunk is there three times', () => {
    const [short, long] = [1e6, 1e9].map((recordBytes) => memoryNeed([segments(512, recordBytes)]));
    expect(long.peak - long.held - (short.peak - short.held)).to.be.at.least(3 * (1e9 - 1e6));
  });

  it('is what the thread takes when there is nothing to load', () => {
    const { held, peak } = memoryNeed([]);
    expect(held).to.equal(0);
    expect(peak).to.be.within(40e6, 80e6);
  });
});
