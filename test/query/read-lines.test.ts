import { expect } from 'chai';
import { CHUNK_BYTES, readLines } from '../../src/query/read-lines.ts';
import type { Plan } from '../../src/query/plan.ts';
import { selectRecords } from '../../src/query/read-page.ts';
import type { ListImage } from '../../src/store/organization-image.ts';
import { builtFrom } from '../support/import-folder.ts';
import { recordsIn, times } from '../support/records.ts';
import { withFolder } from '../support/temporary-folder.ts';

const TICKETS = 5000;
const LONG = 'x'.repeat(300_000);

describe('The lines of a list', () => {
  let list: ListImage;
  before(async () => {
    const { ticket } = recordsIn('north');
    const tickets = times(TICKETS, (i) =>
      ticket(`tkt_${i}`, {
        eventId: `evt_${i % 3}`,
        offerName: i % 1000 === 7 ? LONG : 'x'.repeat(i % 500),
      }),
    );
    const { image } = await withFolder((inFolder) =>
      builtFrom(inFolder('import'), { organizations: [{ organizationId: 'north', name: 'north' }], tickets }),
    );
    list = image.organizations[0].lists.tickets;
  });

  it('come in chunks of whole lines, which end with the record that reaches the length', () => {
    const where: Plan['where'] = [{ match: 'anyOf', index: 'eventId', keys: ['evt_0', 'evt_2'] }];
    const plan: Plan = { collection: 'tickets', where, page: 1, perPage: 25 };
    const selection = selectRecords(list, plan, undefined);
    if (selection === undefined) throw new Error('no selection');
    const chunks = [...readLines(list, plan, selection, 0, () => false)].map((chunk) => chunk.toString());
    for (const chunk of chunks) {
      expect(chunk.at(-1)).to.equal('\n');
      const beforeLast = chunk.lastIndexOf('\n', chunk.length - 2) + 1;
      expect(beforeLast).to.be.below(CHUNK_BYTES);
    }
    const text = chunks.join('');
    const ids = Array.from(text.matchAll(/^\{"ticketId":"tkt_(\d+)",.*\}$/gm), ([, i]) => Number(i));
    expect(ids).to.have.members([...Array(TICKETS).keys()].filter((i) => i % 3 !== 1));
    expect(text.split('\n')).to.have.length(ids.length + 1);
    expect(chunks.length).to.be.below(2 * Math.ceil(Buffer.byteLength(text) / CHUNK_BYTES));
  });

  it('are read when they are taken, into the buffer of the chunk before if that one is sent', () => {
    const plan: Plan = { collection: 'tickets', where: [], page: 1, perPage: 25 };
    let isSent = false;
    const chunks = readLines(list, plan, { kind: 'span', from: 0, to: TICKETS }, 0, () => isSent);
    const take = () => chunks.next().value as Buffer;
    const first = take();
    const text = first.toString();
    const second = take();
    expect(first.toString()).to.equal(text);
    isSent = true;
    expect(take().buffer).to.equal(second.buffer);
    isSent = false;
    expect(take().buffer).not.to.equal(second.buffer);
  });
});
