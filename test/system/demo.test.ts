import Database from 'better-sqlite3';
import { expect } from 'chai';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Command } from '../support/command.ts';

/** What `curl` would ask for a line: its target, its headers, and whether it shows the head of the answer. */
function parseCurl(line: string): { url: string; headers: Record<string, string>; showsHead: boolean } {
  const words = Array.from(line.matchAll(/'[^']*'|\S+/g), ([word]) => word.replaceAll("'", ''));
  const headers: Record<string, string> = {};
  let url = '';
  for (let i = 1; i < words.length; i++) {
    if (words[i] === '-H') {
      const [name, value] = words[++i].split(': ');
      headers[name] = value;
    } else if (!words[i].startsWith('-')) url = words[i];
  }
  return { url, headers, showsHead: words.includes('-i') };
}

describe('the demo', () => {
  const inFolder = folderForAll();

  /** Starts the demo, asks what its lines ask, and returns what came, by the title of the line. */
  async function runDemo(): Promise<{ key: string; answers: Map<string, { status: number; text: string }> }> {
    const demo = new Command('scripts/demo.ts', [], {
      PORT: '0',
      ADMIN_PORT: '0',
      SNAPSHOT_DIR: inFolder('snapshots'),
      KEYS_FILE: inFolder('keys.sqlite'),
    });
    try {
      await demo.says(/Ctrl-C/);
      const [, key] = await demo.says(/Key: +(\S+)/);
      const answers = new Map<string, { status: number; text: string }>();
      for (const [, title, line] of demo.stdout.matchAll(/^# (.*)\n(curl .*)$/gm)) {
        const { url, headers } = parseCurl(line);
        const response = await fetch(url, { headers });
        answers.set(title, { status: response.status, text: await response.text() });
      }
      demo.kill('SIGINT');
      expect(await demo.ended).to.include({ code: 0, stderr: '' });
      return { key, answers };
    } finally {
      demo.kill('SIGKILL');
    }
  }

  it('prints lines that give what they say, and the same key when it is started again', async () => {
    const { key, answers } = await runDemo();
    const statuses = Object.fromEntries(Array.from(answers, ([title, { status }]) => [title, status]));
    expect(statuses).to.deep.equal({
      'a page of events': 200,
      'a filter: the tickets of an event': 200,
      'a filter: the orders updated since a moment': 200,
      'a record': 200,
      'a page beyond the last: 204': 204,
      'two mistakes: 400 with both': 400,
      'the catalog, in preview': 200,
      'an unchanged ticket: 304': 304,
    });
    for (const [title, { status, text }] of answers) {
      if (status !== 200 || title === 'a record') continue;
      expect((JSON.parse(text) as { items: unknown[] }).items, title).not.to.be.empty;
    }
    expect(JSON.parse(answers.get('two mistakes: 400 with both')?.text ?? ''))
      .to.have.property('errors')
      .with.lengthOf(2);

    expect((await runDemo()).key).to.equal(key);
  });

  it('makes its snapshot anew when another version of the format is there', async () => {
    const path = inFolder('snapshots/demo.sqlite');
    const database = new Database(path);
    database.pragma('user_version = 1');
    database.close();
    expect(() => inspectSnapshot(path)).to.throw('this Foyer reads format');
    await runDemo();
    expect(inspectSnapshot(path).organizations).not.to.be.empty;
  });
});
