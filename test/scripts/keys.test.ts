import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { parseCredential } from '../../src/keys/credential.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { main } from '../../scripts/keys.ts';
import { run, runHere } from '../support/command.ts';
import { builtFrom } from '../support/import-folder.ts';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';

const SCRIPT = 'scripts/keys.ts';

describe('npm run keys', () => {
  const inFolder = folderForEach();
  const inSnapshots = folderForAll();

  before(async () => {
    await builtFrom(inSnapshots(''), { organizations: [{ organizationId: 'org_1' }] });
    writeFileSync(inSnapshots('foreign.sqlite'), 'no snapshot');
  });

  const keys = (...words: string[]) => keysOn(inSnapshots(''), ...words);

  async function keysOn(snapshotDir: string, ...words: string[]) {
    const { code, stdout, stderr } = await runHere(main, words, {
      KEYS_FILE: inFolder('keys.sqlite'),
      SNAPSHOT_DIR: snapshotDir,
    });
    return { code, stderr, lines: stdout.trimEnd().split('\n') };
  }

  /** Expects a line to be a valid credential of an organization. Returns the check. */
  function expectValid(organization: string, line: string | undefined) {
    const { organizationId, secret } = credentialOf(line);
    expect(organizationId).to.equal(organization);
    const check = readKeyRing(inFolder('keys.sqlite')).check(organizationId, secret, Date.now());
    if (check.outcome !== 'valid') throw new Error(`the key is ${check.outcome}`);
    return check;
  }

  it('creates a key, with its credential in the last line, lists it without secret, and revokes it', async () => {
    const created = await keys('create', '--organization', 'org_1', '--label', 'box office');
    expect(created).to.include({ code: 0, stderr: '' });
    const { organizationId, secret } = credentialOf(created.lines.at(-1));
    const { keyId } = expectValid('org_1', created.lines.at(-1));
    expect(created.lines[3]).to.equal(`  keys file     ${inFolder('keys.sqlite')}`);

    const listed = await keys('list');
    expect(listed).to.include({ code: 0, stderr: '' });
    expect(listed.lines[0]).to.match(/^KEY +ORGANIZATION +STATE +CREATED +EXPIRES +REVOKED +LABEL$/);
    expect(listed.lines[1]).to.match(new RegExp(`^${keyId}  org_1 +valid +2\\S+Z  -  +-  +box office$`));
    expect(listed.lines).to.have.length(2);
    expect(listed.lines.join('\n')).to.not.include(secret);

    expect(await keys('revoke', keyId)).to.deep.include({ code: 0, lines: [`${keyId} is revoked.`] });
    expect(readKeyRing(inFolder('keys.sqlite')).check(organizationId, secret, Date.now())).to.deep.equal({
      outcome: 'revoked',
    });
    const again = await keys('revoke', keyId);
    expect(again.code).to.equal(0);
    expect(again.lines[0]).to.match(/is already revoked, since \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
  });

  it('lists keys as one JSON object', async () => {
    await keys('create', '--organization', 'org_1', '--label', 'till');
    const [{ keyId, createdAt }] = new KeysFile(inFolder('keys.sqlite')).list();
    const { code, stderr, lines } = await keys('list', '--json');
    expect({ code, stderr, lines: lines.length }).to.deep.equal({ code: 0, stderr: '', lines: 1 });
    const key = { organizationId: 'org_1', label: 'till', state: 'valid', expiresAt: null, revokedAt: null };
    expect(JSON.parse(lines[0])).to.deep.equal({ keys: [{ ...key, keyId, createdAt }] });
  });

  it('warns on standard error if no snapshot that can be read holds the organization of a new key', async () => {
    const warningOf = async (folder: string) => {
      const { code, lines, stderr } = await keysOn(folder, 'create', '--organization', 'org_2');
      expect(code).to.equal(0);
      expect(credentialOf(lines.at(-1)).organizationId).to.equal('org_2');
      return stderr;
    };
    for (const folder of [inSnapshots(''), inFolder('none'), inSnapshots('foreign.sqlite')]) {
      expect(await warningOf(folder)).to.equal(
        `warning: no snapshot in ${resolve(folder)} (SNAPSHOT_DIR) holds organization "org_2"; ` +
          'requests with the key get 429 until one is published\n',
      );
    }
  });

  it('refuses a keys file in a folder that does not exist', async () => {
    const path = inFolder('none/keys.sqlite');
    for (const words of [['create', '--organization', 'org_1'], ['list']]) {
      expect(await keys(...words, '--file', path)).to.deep.include({
        code: 1,
        stderr: `error: keys file ${path}: its folder does not exist; if the name is right, create it: mkdir -p ${inFolder('none')}\n`,
      });
    }
    expect(existsSync(inFolder('none'))).to.equal(false);
  });

  it('creates a key that expires, at an instant or after a duration', async () => {
    const file = new KeysFile(inFolder('keys.sqlite'));
    const expiryOf = async (when: string) => {
      const { code, lines } = await keys('create', '--organization', 'org_1', '--expires', when);
      expect(code, when).to.equal(0);
      const [keyId, , end] = lines.map((line) => line.split(/ {2,}/)[2]);
      expect(file.list().find((entry) => entry.keyId === keyId)?.expiresAt).to.equal(end);
      return Date.parse(end);
    };
    expect(await expiryOf('2999-01-31T20:00:00.5+01:00')).to.equal(Date.parse('2999-01-31T19:00:00.500Z'));
    const hours = async (when: string) => ((await expiryOf(when)) - Date.now()) / 3_600_000;
    expect(await hours('12h')).to.be.closeTo(12, 0.02);
    expect(await hours('90d')).to.be.closeTo(90 * 24, 0.02);
  });

  it('rotates a key: the credential of the new one is the last line, and the old one expires after the overlap', async () => {
    await keys('create', '--organization', 'org_1', '--label', 'till');
    const file = new KeysFile(inFolder('keys.sqlite'));
    const [{ keyId }] = file.list();
    const rotated = await keys('rotate', keyId);
    expect(rotated).to.include({ code: 0, stderr: '' });
    const [, end = ''] = new RegExp(`^${keyId} is valid until (\\S+)\\.$`).exec(rotated.lines[0]) ?? [];
    expect(Date.parse(end) - Date.now()).to.be.closeTo(86_400_000, 60_000);
    const check = expectValid('org_1', rotated.lines.at(-1));
    expect(rotated.lines.slice(1, 5)).to.deep.equal([
      `  key           ${check.keyId}`,
      '  organization  org_1',
      '  expires       never',
      `  keys file     ${inFolder('keys.sqlite')}`,
    ]);

    const again = await keys('rotate', check.keyId, '--overlap', '0h', '--expires', '30d');
    expect(again.lines[3]).to.match(/^ {2}expires +2\S+Z$/);
    const listed = (await keys('list')).lines.slice(1).map((line) => line.split(/ +/));
    expect(listed.map(([id, , state]) => [id, state])).to.deep.equal([
      [keyId, 'valid'],
      [check.keyId, 'expired'],
      [/\S+$/.exec(again.lines[1])?.[0], 'valid'],
    ]);
    expect(listed.map((cells) => cells.at(-1))).to.deep.equal(['till', 'till', 'till']);
  });

  it('refuses to rotate an unknown, an expired and a revoked key', async () => {
    await keys('create', '--organization', 'org_1');
    await keys('create', '--organization', 'org_1');
    const file = new KeysFile(inFolder('keys.sqlite'));
    const [expired, revoked] = file.list();
    file.rotate(expired.keyId, 0, new Date());
    file.revoke(revoked.keyId, new Date());
    const before = file.list();
    const refusals = [];
    for (const id of ['key_none', expired.keyId, revoked.keyId]) refusals.push(await keys('rotate', id));
    expect(refusals.map(({ code, stderr }) => [code, stderr])).to.deep.equal([
      [1, 'error: key key_none does not exist; `list` shows all keys\n'],
      [1, `error: key ${expired.keyId} is expired; \`create\` creates a new key\n`],
      [1, `error: key ${revoked.keyId} is revoked; \`create\` creates a new key\n`],
    ]);
    expect(file.list()).to.deep.equal(before);
  });

  it('exits with 1 for an unknown key, an absent file, and a file of another kind', async () => {
    expect((await keys('list')).stderr).to.match(
      /^error: keys file .*keys\.sqlite does not exist; `create` creates it with the first key\n$/,
    );
    expect((await keys('list')).code).to.equal(1);
    expect(existsSync(inFolder('keys.sqlite'))).to.equal(false);
    await keys('create', '--organization', 'org_1');
    const unknown = await keys('revoke', 'key_none');
    expect(unknown).to.include({ code: 1 });
    expect(unknown.stderr).to.include('key key_none does not exist');
    const foreign = await keys('list', '--file', SCRIPT);
    expect(foreign).to.include({ code: 1, stderr: `error: ${SCRIPT}: it is not an SQLite database\n` });
  });

  const misused: [mistake: string, words: string[], reason: string][] = [
    ['a missing command', [], 'Usage: npm run keys -- '],
    ['an unknown command', ['destroy'], "unknown command 'destroy'"],
    ['a missing organization', ['create'], "'--organization <ID>' not specified"],
    [
      'an organization id that a credential cannot contain',
      ['create', '--organization', 'a:b'],
      'without ":"',
    ],
    ['a label of two lines', ['create', '--organization', 'a', '--label', 'x\ny'], 'without line breaks'],
    ['a missing key id', ['revoke'], "missing required argument 'KEY_ID'"],
    ...['', '90', '1.5d', '-1d', '90D', 'd', '100000d', '2027-01-31', '2027-02-30T00:00:00Z'].map(
      (when): [string, string[], string] => [
        `the expiry "${when}"`,
        ['create', '--organization', 'a', `--expires=${when}`],
        'It must be an ISO 8601 date and time with Z or an offset, such as 2027-01-31T20:00:00+01:00, or a whole number',
      ],
    ),
    ...['0h', '2020-01-31T20:00:00Z', '9999-12-31T23:59:59-01:00'].map((when): [string, string[], string] => [
      `the expiry ${when}`,
      ['create', '--organization', 'a', '--expires', when],
      'It must be in the future and before the year 10000.',
    ]),
    [
      'an overlap that is not a duration',
      ['rotate', 'key_1', '--overlap', '2027-01-31T20:00:00Z'],
      'It must be a whole number of days or hours, such as 90d or 12h.',
    ],
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

  it('prints its usage with --help, and sets the exit status of its process', async () => {
    const { code, stdout } = await run(SCRIPT, ['--help']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/Usage: npm run keys -- [^]*create[^]*rotate[^]*list[^]*revoke/);
    expect((await run(SCRIPT, ['destroy'])).code).to.equal(2);
  });
});

function credentialOf(line = '') {
  const credential = parseCredential(`Bearer ${line}`);
  if (credential === undefined) throw new Error(`no credential: ${line}`);
  return credential;
}
