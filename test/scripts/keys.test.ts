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

  it('creates a key, with its credential in the last line, lists it without secret, and revokes it', async () => {
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

  it('uses the file given by --file', async () => {
    const { code } = await keys('create', '--organization', 'org_1', '--file', inFolder('other.sqlite'));
    expect(code).to.equal(0);
    expect(existsSync(inFolder('other.sqlite'))).to.equal(true);
    expect(existsSync(inFolder('keys.sqlite'))).to.equal(false);
  });

  it('exits with 1 for an unknown key, an absent file, and a file of another kind', async () => {
    expect((await keys('list')).stderr).to.match(
      /^error: keys file .*keys\.sqlite does not exist; `create` creates it with the first key\n$/,
    );
    expect((await keys('list')).code).to.equal(1);
    await keys('create', '--organization', 'org_1');
    const unknown = await keys('revoke', 'key_none');
    expect(unknown).to.include({ code: 1 });
    expect(unknown.stderr).to.include('key key_none does not exist');
    const foreign = await keys('list', '--file', SCRIPT);
    expect(foreign).to.include({ code: 1, stderr: `error: ${SCRIPT}: it is not an SQLite database\n` });
  });

  const misused: [mistake: string, words: string[], reason: string][] = [
    ['a missing command', [], 'Usage: keys'],
    ['an unknown command', ['destroy'], "unknown command 'destroy'"],
    ['a missing organization', ['create'], "'--organization <ID>' not specified"],
    [
      'an organization id that a credential cannot contain',
      ['create', '--organization', 'a:b'],
      'without ":"',
    ],
    ['a label of two lines', ['create', '--organization', 'a', '--label', 'x\ny'], 'without line breaks'],
    ['a missing key id', ['revoke'], "missing required argument 'KEY_ID'"],
    ['an excess argument', ['list', 'all'], 'too many arguments'],
  ];
  for (const [mistake, words, reason] of misused) {
    it(`exits with 2 for ${mistake}`, async () => {
      const { code, stderr } = await keys(...words);
      expect(stderr).to.include(reason);
      expect(code).to.equal(2);
      expect(existsSync(inFolder('keys.sqlite'))).to.equal(false);
    });
  }

  it('sets the exit status of its process, and writes to its standard output', async () => {
    const { stdout } = await run(SCRIPT, ['--help']);
    expect(stdout).to.include('Usage: keys');
    expect((await run(SCRIPT, ['destroy'])).code).to.equal(2);
  });

  it('prints its usage with --help', async () => {
    expect((await keys('--help')).lines.join('\n')).to.match(/create[^]*list[^]*revoke/);
    expect((await keys('create', '--help')).code).to.equal(0);
  });
});
