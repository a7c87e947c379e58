import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { parseCredential } from '../../src/keys/credential.ts';
import { readKeyRing } from '../../src/keys/keys-file.ts';
import { main } from '../../scripts/keys.ts';
import { run, runHere } from '../support/command.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const SCRIPT = 'scripts/keys.ts';

describe('npm run keys', () => {
  const inFolder = folderForEach();

  async function keys(...words: string[]) {
    const { code, stdout, stderr } = await runHere(main, words, { KEYS_FILE: inFolder('keys.sqlite') });
    return { code, stderr, lines: stdout.trimEnd().split('\n') };
  }

  it('creates a key whose credential is the last line, lists it without, and revokes it', async () => {
    const created = await keys('create', '--organization', 'org_1', '--label', 'box office');
    expect(created).to.include({ code: 0, stderr: '' });
    const credential = parseCredential(`Bearer ${created.lines.at(-1) ?? ''}`);
    if (credential === undefined) throw new Error(`no credential in ${created.lines.join('\n')}`);
    const { organizationId, secret } = credential;
    expect(organizationId).to.equal('org_1');
    const check = readKeyRing(inFolder('keys.sqlite')).check(organizationId, secret);
    if (check.outcome !== 'valid') throw new Error(`the key is ${check.outcome}`);

    const listed = await keys('list');
    expect(listed).to.include({ code: 0, stderr: '' });
    expect(listed.lines[0]).to.match(/^KEY +ORGANIZATION +CREATED +REVOKED +LABEL$/);
    expect(listed.lines[1]).to.match(new RegExp(`^${check.keyId}  org_1 +2\\S+Z  -  +box office$`));
    expect(listed.lines).to.have.length(2);
    expect(listed.lines.join('\n')).to.not.include(secret);

    expect(await keys('revoke', check.keyId)).to.deep.include({
      code: 0,
      lines: [`${check.keyId} is revoked.`],
    });
    expect(readKeyRing(inFolder('keys.sqlite')).check(organizationId, secret)).to.deep.equal({
      outcome: 'revoked',
    });
    const again = await keys('revoke', check.keyId);
    expect(again.code).to.equal(0);
    expect(again.lines[0]).to.match(/is already revoked, since \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
  });

  it('works on the file that --file names', async () => {
    const { code } = await keys('create', '--organization', 'org_1', '--file', inFolder('other.sqlite'));
    expect(code).to.equal(0);
    expect(existsSync(inFolder('other.sqlite'))).to.equal(true);
    expect(existsSync(inFolder('keys.sqlite'))).to.equal(false);
  });

  it('refuses, with 1, a key or a file that is not there, and a file that is not a keys file', async () => {
    expect((await keys('list')).stderr).to.match(
      /^error: there is no keys file .*keys\.sqlite; `create` makes one\n$/,
    );
    expect((await keys('list')).code).to.equal(1);
    await keys('create', '--organization', 'org_1');
    const unknown = await keys('revoke', 'key_none');
    expect(unknown).to.include({ code: 1 });
    expect(unknown.stderr).to.include('there is no key key_none');
    const foreign = await keys('list', '--file', SCRIPT);
    expect(foreign).to.include({ code: 1, stderr: `error: ${SCRIPT}: it is not an SQLite database\n` });
  });

  const misused: [what: string, words: string[], reason: string][] = [
    ['no command', [], 'Usage: keys'],
    ['an unknown command', ['destroy'], "unknown command 'destroy'"],
    ['no organization', ['create'], "'--organization <ID>' not specified"],
    ['an organization that no credential can name', ['create', '--organization', 'a:b'], 'without ":"'],
    ['a label over two lines', ['create', '--organization', 'a', '--label', 'x\ny'], 'without line breaks'],
    ['no key to revoke', ['revoke'], "missing required argument 'KEY_ID'"],
    ['a word too many', ['list', 'all'], 'too many arguments'],
  ];
  for (const [what, words, reason] of misused) {
    it(`answers ${what} with 2`, async () => {
      const { code, stderr } = await keys(...words);
      expect(stderr).to.include(reason);
      expect(code).to.equal(2);
      expect(existsSync(inFolder('keys.sqlite'))).to.equal(false);
    });
  }

  it('is a program that writes to its output and ends with the exit status', async () => {
    const { stdout } = await run(SCRIPT, ['--help']);
    expect(stdout).to.include('Usage: keys');
    expect((await run(SCRIPT, ['destroy'])).code).to.equal(2);
  });

  it('explains itself', async () => {
    expect((await keys('--help')).lines.join('\n')).to.match(/create[^]*list[^]*revoke/);
    expect((await keys('create', '--help')).code).to.equal(0);
  });
});
