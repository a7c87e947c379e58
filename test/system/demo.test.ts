import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { Command, ROOT } from '../support/command.ts';
import { environmentIn } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** Returns the URL and the headers of a `curl` command. */
function parseCurl(command: string): { url: string; headers: Record<string, string> } {
  const words = Array.from(command.matchAll(/'([^']*)'/g), ([, word]) => word);
  // The first is the text for the end of the output.
  const [, url, ...headers] = words;
  return {
    url,
    headers: Object.fromEntries(headers.map((header) => header.split(': '))) as Record<string, string>,
  };
}

describe('The demo', () => {
  const inFolder = folderForAll();
  let output = '';
  let key = '';

  /** Runs the demo, and sends the requests of its curl commands. Returns the responses by title. */
  async function runDemo() {
    const demo = new Command('scripts/demo.ts', [], { ...environmentIn(inFolder), EXPLORER: 'on' });
    try {
      await demo.waitForOutput(/Ctrl-C/);
      const responses = new Map<string, { status: number; text: string }>();
      for (const [, title, command] of demo.stdout.matchAll(/^# (.*)\n(curl (?:.*\\\n)*.*)$/gm)) {
        const { url, headers } = parseCurl(command);
        const response = await fetch(url, { headers });
        responses.set(title, { status: response.status, text: await response.text() });
      }
      demo.kill('SIGINT');
      const { code, stdout, stderr } = await demo.ended;
      expect(code).to.equal(0);
      return { responses, stdout, stderr, key: /Key +(\S+)/.exec(stdout)?.[1] ?? '' };
    } finally {
      demo.kill('SIGKILL');
    }
  }

  it('prints the addresses of its pages, without escape codes in a pipe', async () => {
    const { stdout, stderr, ...first } = await runDemo();
    expect(stderr).to.equal('');
    expect(stdout).to.match(
      /^Foyer serves .*\n\n +Explorer +http:\S+\/explorer#key=svc:o:\S+\n +Documentation +http:\S+\/docs\n +Status +http:\S+\/\n +Key +svc:o:\S+\n/,
    );
    expect(stdout).to.match(/^[\x20-\x7e\n]+$/);
    [output, key] = [stdout, first.key];
  });

  it('prints three curl commands that work and end with a newline, and the same key after a restart', async () => {
    const { responses, stderr, ...second } = await runDemo();
    expect(stderr).to.equal('');
    expect(second.key).to.equal(key);
    expect([...responses.keys()]).to.deep.equal([
      'a page of events',
      'the tickets of an event, updated at a time or later',
      'the offers of the event, in preview',
    ]);
    for (const [title, { status, text }] of responses) {
      expect(status, title).to.equal(200);
      expect((JSON.parse(text) as { items: unknown[] }).items, title).not.to.be.empty;
    }
    expect(second.stdout.match(/^curl -sw '\\n' 'http/gm)).to.have.length(3);
  });

  it('prints the environment with which other commands use its data', () => {
    const [environment] = /^export .*$/m.exec(output) ?? [];
    const [, , organizationId] = key.split(':');
    const sh = (command: string) =>
      spawnSync('sh', ['-c', `${environment}; ${command}`], { cwd: ROOT, encoding: 'utf8' });
    expect(sh(`"${process.execPath}" scripts/keys.ts list`).stdout).to.match(
      new RegExp(`^key_\\w+ +${organizationId} +valid .* demo$`, 'm'),
    );
    const created = sh(`"${process.execPath}" scripts/keys.ts create --organization ${organizationId}`);
    expect(created).to.include({ status: 0, stderr: '' });
  });
});
