import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CorruptSnapshot } from '../../src/snapshot/corrupt-snapshot.ts';
import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts';

describe('the loader', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-load-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const refusal = (path: string) =>
    loadSnapshot(path).then(
      () => expect.fail('it was loaded'),
      (error: unknown) => error,
    );

  it('hands on why a file is refused', async () => {
    const path = join(folder, 'text.sqlite');
    writeFileSync(path, 'not a database'.repeat(100));
    expect(await refusal(path))
      .to.be.instanceOf(CorruptSnapshot)
      .with.property('message')
      .that.matches(/not an SQLite database/);
  });

  it('makes a failure of its thread a refusal', async () => {
    // A path that no system takes: what is thrown for it is no judgement on a file.
    expect(await refusal('\0'))
      .to.be.instanceOf(CorruptSnapshot)
      .with.property('message')
      .that.matches(/the loader failed/);
  });
});
