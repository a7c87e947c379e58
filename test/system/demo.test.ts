import { spawnSync } from 'node:child_process';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Command, ROOT } from '../support/command.ts';

/** Parses the URL and the headers of a `curl` command. */
function parseCurl(line: string): { url: string; headers: Record<string, string> } {
  const words = Array.from(line.matchAll(/'[^']*'|\S+/g), ([word]) => word.replaceAll("'", ''));
  const headers: Record<string, string> = {};
  let url = '';
  for (let i = 1; i < words.length; i++) {
    if (words[i] === '-H') {
      const [name, value] = words[++i].split(': ');
      headers[name] = value;
    } else if (!words[i].startsWith('-')) url = words[i];
  }
  return { url, headers };
}

describe('The demo', () => {
  const inFolder = folderForAll();

  /** Runs the demo, and sends the requests of its curl lines. Returns the responses by the title of the line. */
  async function runDemo(): Promise<{
    key: string;
    responses: Map<string, { status: number; text: string }>;
    /** The line that sets the environment of other commands. */
    environment: string;
  }> {
    const demo = new Command('scripts/demo.ts', [], {
      PORT: '0',
      ADMIN_PORT: '0',
      SNAPSHOT_DIR: inFolder('snapshots'),
      KEYS_FILE: inFolder('keys.sqlite'),
    });
    try {
      await demo.waitForOutput(/Ctrl-C/);
      const [, key] = await demo.waitForOutput(/Key: +(\S+)/);
      const [environment] = await demo.waitForOutput(/^export .*$/m);
      const responses = new Map<string, { status: number; text: string }>();
      for (const [, title, line] of demo.stdout.matchAll(/^# (.*)\n(curl .*)$/gm)) {
        const { url, headers } = parseCurl(line);
        const response = await fetch(url, { headers });
        responses.set(title, { status: response.status, text: await response.text() });
      }
      demo.kill('SIGINT');
      expect(await demo.ended).to.include({ code: 0, stderr: '' });
      return { key, responses, environment };
    } finally {
      demo.kill('SIGKILL');
    }
  }

  it('prints curl lines that work as titled, and the same key after a restart', async () => {
    const { key, responses } = await runDemo();
    const statuses = Object.fromEntries(Array.from(responses, ([title, { status }]) => [title, status]));
    expect(statuses).to.deep.equal({
      'a page of events': 200,
      'a filter: the tickets of an event': 200,
      'a filter: the orders updated since a time': 200,
      'a record': 200,
      'a page beyond the last: 204': 204,
      'two mistakes: 400 with both': 400,
      'the catalog, in preview': 200,
      'an unchanged ticket: 304': 304,
    });
    for (const [title, { status, text }] of responses) {
      if (status !== 200 || title === 'a record') continue;
      expect((JSON.parse(text) as { items: unknown[] }).items, title).not.to.be.empty;
    }
    expect(JSON.parse(responses.get('two mistakes: 400 with both')?.text ?? ''))
      .to.have.property('errors')
      .with.lengthOf(2);

    expect((await runDemo()).key).to.equal(key);
  });

  it('prints the environment with which other commands use its data', async () => {
    const { key, environment } = await runDemo();
    const [, , organizationId] = key.split(':');
    const sh = (command: string) =>
      spawnSync('sh', ['-c', `${environment}; ${command}`], { cwd: ROOT, encoding: 'utf8' });
    expect(sh(`"${process.execPath}" scripts/keys.ts list`).stdout).to.match(
      new RegExp(`^key_\\w+ +${organizationId} +valid .* demo$`, 'm'),
    );
    const created = sh(`"${process.execPath}" scripts/keys.ts create --organization ${organizationId}`);
    expect(created).to.include({ status: 0, stderr: '' });
  });

  it('rebuilds a snapshot of another format version', async () => {
    const path = inFolder('snapshots/demo.sqlite');
    const database = new Database(path);
    database.pragma('user_version = 1');
    database.close();
    expect(() => inspectSnapshot(path)).to.throw('this Foyer reads format');
    await runDemo();
    expect(inspectSnapshot(path).organizations).not.to.be.empty;
  });
});
