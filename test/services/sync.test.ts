import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { INHERITED, ROOT } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { describeSync } from '../system/sync-program.ts';
import { givenPython, PYTHON } from './python.ts';

describe('The example of a sync in Python', () => {
  givenPython();
  describeSync({
    command: PYTHON,
    file: 'sync.py',
    selectSnapshotId: "SELECT value FROM state WHERE name = 'snapshot'",
    setTime: "UPDATE state SET value = 'TIME' WHERE name = 'asOf'",
  });

  const inFolder = folderForAll();

  it('waits after 429 without Retry-After, as of a proxy', async () => {
    const paths: string[] = [];
    await using server = createServer(({ url = '' }, response) => {
      paths.push(url);
      const list = {
        'Service-Snapshot-Id': 's',
        'Service-Data-As-Of': '2026-11-22T03:00:00.000Z',
        ETag: '"e"',
      };
      response.writeHead(paths.length === 1 ? 429 : 200, paths.length === 1 ? {} : list).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const words = [join(ROOT, 'examples/sync/sync.py'), `http://127.0.0.1:${port}`, inFolder('copy.sqlite')];
    const { stdout } = await promisify(execFile)(PYTHON, words, { env: { ...INHERITED, FOYER_KEY: 'key' } });
    expect(stdout).to.equal('copied the data as of 2026-11-22T03:00:00.000Z\n');
    expect(paths.slice(0, 3)).to.deep.equal(['/v1/tickets', '/v1/tickets', '/v1/orders']);
  });
});
