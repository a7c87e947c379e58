import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts';
import { inOrganization, minimalEvent, minimalSession } from './full-records.ts';
import { build, writeImport } from './import-folder.ts';
import { folderForAll } from '../temporary-folder.ts';

describe('the loader', () => {
  const inFolder = folderForAll();

  const refusal = (path: string) =>
    loadSnapshot(path).then(
      () => expect.fail('it was loaded'),
      (error: unknown) => error,
    );

  it('hands on why a file is refused', async () => {
    const path = inFolder('text.sqlite');
    writeFileSync(path, 'not a database'.repeat(100));
    expect(await refusal(path))
      .to.be.instanceOf(RefusedSnapshot)
      .with.property('message')
      .that.matches(/not an SQLite database/);
  });

  it('reads thousands of organizations', async () => {
    const organizations = Array.from({ length: 2000 }, (_, i) => ({
      organizationId: `org-${String(i).padStart(4, '0')}`,
      name: '',
    }));
    const ids = organizations.map(({ organizationId }) => organizationId);
    const folder = inFolder('many');
    writeImport(folder, {
      organizations,
      events: ids.map((id) => inOrganization(id)(minimalEvent('evt'))),
      sessions: ids.map((id) => inOrganization(id)(minimalSession('ses', 'evt'))),
    });
    const path = inFolder('many.sqlite');
    await build(folder, path);
    const loaded = await loadSnapshot(path);
    expect(loaded.organizations.map(({ organizationId }) => organizationId)).to.deep.equal(ids);
    expect(loaded.organizations.every(({ bytesHeld }) => bytesHeld > 0)).to.equal(true);
  });

  it('makes a failure of its thread a refusal', async () => {
    // A path that no system takes: what is thrown for it is no judgement on a file.
    expect(await refusal('\0'))
      .to.be.instanceOf(RefusedSnapshot)
      .with.property('message')
      .that.matches(/the loader failed/);
  });
});
