import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { checkDigests } from '../../../src/snapshot/builder/check-digests.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The check of digests', () => {
  const snapshot = new SoundSnapshot();

  it('accepts a sound file', () => checkDigests(snapshot.path));

  it('refuses a file with another record, column, change or deletion', async () => {
    for (const statement of [
      `UPDATE ticket_runs SET records = replace(records, '"status"', '"STATUS"')`,
      `UPDATE order_runs SET email = replace(email, '@', '%')`,
      `UPDATE offer_runs SET changed_at = '["2020-01-01T00:00:00Z"]'`,
      `DELETE FROM deletions WHERE id = (SELECT max(id) FROM deletions)`,
    ]) {
      const { reason } = await refusalOf(checkDigests(snapshot.copyWith(statement)), RefusedSnapshot);
      expect(reason, statement).to.equal('damaged');
    }
  });

  it('ends with the reason of a signal', async () => {
    const reason = new Error('interrupted');
    expect(await refusalOf(checkDigests(snapshot.path, AbortSignal.abort(reason)), Error)).to.equal(reason);
  });
});
