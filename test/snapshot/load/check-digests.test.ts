import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { checkDigests } from '../../../src/snapshot/load/check-digests.ts';
import { buildFile } from '../../support/import-folder.ts';
import { inOrganization, minimalTicket, times } from '../../support/records.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { folderForAll } from '../../support/temporary-folder.ts';

describe('The check of digests', () => {
  const inFolder = folderForAll();
  const file = () => inFolder('large.sqlite');

  before(async () => {
    const text = { offerName: 'x'.repeat(60_000) };
    const tickets = times(1200, (i) => inOrganization('north')(minimalTicket(`tkt_${i}`, text)));
    await buildFile({ organizations: SMALL_IMPORT.organizations, tickets }, file());
    expect(statSync(file()).size).to.be.above(64 * 2 ** 20);
  });

  it('accepts a sound file', () => checkDigests(file()));

  it('refuses a damaged one', async () => {
    const sound = readFileSync(file());
    for (const place of [0.1, 0.5, 0.9]) {
      const bytes = Buffer.from(sound);
      const at = bytes.indexOf('xxxx', Math.floor(place * bytes.length));
      bytes[at] = 0x79;
      writeFileSync(inFolder('damaged.sqlite'), bytes);
      expect((await refusalOf(checkDigests(inFolder('damaged.sqlite')), RefusedSnapshot)).reason).to.equal(
        'damaged',
      );
    }
  });

  it('makes up for a thread that fails', async () => {
    const checked = checkDigests(file());
    // This thread has opened the file, the other one not yet.
    renameSync(file(), inFolder('moved.sqlite'));
    expect((await refusalOf(checked, RefusedSnapshot)).reason).to.equal('unreadable');
    renameSync(inFolder('moved.sqlite'), file());
  });

  it('ends with the reason of a signal', async () => {
    const reason = new Error('interrupted');
    expect(await refusalOf(checkDigests(file(), AbortSignal.abort(reason)), Error)).to.equal(reason);
  });
});
