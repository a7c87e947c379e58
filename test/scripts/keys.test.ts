import { existsSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseCredential } from '../../src/keys/credential.ts';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { main } from '../../scripts/keys.ts';
import { run, runHere } from '../support/command.ts';
import { builtFrom } from '../support/import-folder.ts';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';

const SCRIPT = 'scripts/keys.ts';

describe('npm run keys', () => {
  const inFolder = folderForEach();
  const inSnapshots = folderForAll();
  const path = () => inFolder('keys.sqlite');
  const file = () => new KeysFile(path());

  before(async () => {
    await builtFrom(inSnapshots(''), { organizations: [{ organizationId: 'org_1' }] });
    writeFileSync(inSnapshots('foreign.sqlite'), 'no snapshot');
  });

  const keys = (line: string, snapshotDir = inSnapshots('')) =>
    runHere(main, line.split(' ').filter(Boolean), { KEYS_FILE: path(), SNAPSHOT_DIR: snapshotDir });

  /** Runs a command that succeeds without a warning. Returns the lines of its output. */
  async function linesOf(line: string): Promise<string[]> {
    const { code, stdout, stderr } = await keys(line);
    expect({ code, stderr }, line).to.deep.equal({ code: 0, stderr: '' });
    return stdout.trimEnd().split('\n');
  }

  function checkOf(line = '') {
    const credential = parseCredential(`Bearer ${line}`);
    if (credential === undefined) throw new Error(`no credential: ${line}`);
    return new KeyRing(readKeys(path())).check(credential.organizationId, credential.secret, Date.now());
  }

  it('creates a key, with its credential in the last line, lists it without secret, and revokes it', async () => {
    const created = await linesOf('create --organization org_1 --label till');
    const [{ keyId, organizationId, createdAt }] = file().list();
    expect(checkOf(created.at(-1))).to.deep.include({ outcome: 'valid', keyId });
    expect(created.slice(0, 4)).to.deep.equal([
      `  key           ${keyId}`,
      `  organization  ${organizationId}`,
      '  expires       never',
      `  keys file     ${path()}`,
    ]);

    const listed = await linesOf('list');
    expect(listed[0]).to.match(/^KEY +ORGANIZATION +STATE +CREATED +EXPIRES +REVOKED +LABEL$/);
    expect(listed[1]).to.match(new RegExp(`^${keyId}  org_1 +valid +${createdAt}  -  +-  +till$`));
    expect(listed).to.have.length(2);

    expect(await linesOf(`revoke ${keyId}`)).to.deep.equal([`${keyId} is revoked.`]);
    expect(checkOf(created.at(-1))).to.deep.equal({ outcome: 'revoked' });
    const [again] = await linesOf(`revoke ${keyId}`);
    expect(again).to.equal(`${keyId} is already revoked, since ${file().list()[0].revokedAt}.`);
  });

  it('lists keys as one JSON object', async () => {
    await linesOf('create --organization org_1 --label till');
    const listed = await linesOf('list --json');
    expect(listed).to.have.length(1);
    expect(JSON.parse(listed[0])).to.deep.equal({ keys: [{ ...file().list()[0], state: 'valid' }] });
  });

  it('warns on standard error if no snapshot that can be read holds the organization of a new key', async () => {
    for (const folder of [inSnapshots(''), inFolder('none'), inSnapshots('foreign.sqlite')]) {
      const { code, stdout, stderr } = await keys('create --organization org_2', folder);
      expect(code).to.equal(0);
      expect(checkOf(stdout.trimEnd().split('\n').at(-1)).outcome).to.equal('valid');
      expect(stderr).to.equal(
        `warning: no snapshot in ${folder} (SNAPSHOT_DIR) holds organization "org_2"; ` +
          'requests with the key get 429 until one is published\n',
      );
    }
  });

  it('creates a key that expires, at an instant or after a duration', async () => {
    const expiryOf = async (when: string) => {
      const created = await linesOf(`create --organization org_1 --expires ${when}`);
      const [keyId, , end] = created.map((line) => line.split(/ {2,}/)[2]);
      expect(
        file()
          .list()
          .find((entry) => entry.keyId === keyId)?.expiresAt,
      ).to.equal(end);
      return Date.parse(end);
    };
    expect(await expiryOf('2999-01-31T20:00:00.5+01:00')).to.equal(Date.parse('2999-01-31T19:00:00.500Z'));
    const hours = async (when: string) => ((await expiryOf(when)) - Date.now()) / 3_600_000;
    expect(await hours('12h')).to.be.closeTo(12, 0.02);
    expect(await hours('90d')).to.be.closeTo(90 * 24, 0.02);
  });

  it('rotates a key: the credential of the new one is the last line, and the old one expires after the overlap', async () => {
    await linesOf('create --organization org_1 --label till');
    const [{ keyId }] = file().list();
    const rotated = await linesOf(`rotate ${keyId}`);
    const [{ expiresAt }, second] = file().list();
    expect(rotated[0]).to.equal(`${keyId} is valid until ${expiresAt}.`);
    expect(Date.parse(expiresAt ?? '') - Date.now()).to.be.closeTo(86_400_000, 60_000);
    expect(rotated[1]).to.equal(`  key           ${second.keyId}`);
    expect(checkOf(rotated.at(-1))).to.deep.include({ outcome: 'valid', keyId: second.keyId });

    const again = await linesOf(`rotate ${second.keyId} --overlap 0h --expires 30d`);
    expect(again[3]).to.match(/^ {2}expires +2\S+Z$/);
    const listed = (await linesOf('list')).slice(1).map((line) => line.split(/ +/));
    expect(listed.map((cells) => [cells[2], cells.at(-1)])).to.deep.equal([
      ['valid', 'till'],
      ['expired', 'till'],
      ['valid', 'till'],
    ]);
  });

  it('uses the file given by --file', async () => {
    await linesOf(`create --organization org_1 --file ${inFolder('other.sqlite')}`);
    expect([existsSync(inFolder('other.sqlite')), existsSync(path())]).to.deep.equal([true, false]);
  });

  it('refuses, with exit status 1, an unknown, expired or revoked key, and a file that it cannot use', async () => {
    const expectRefused = async (line: string, reason: string) => {
      expect(await keys(line), line).to.deep.equal({ code: 1, stdout: '', stderr: `error: ${reason}\n` });
    };
    await expectRefused(
      'list',
      `keys file ${path()} does not exist; \`create\` creates it with the first key`,
    );
    await linesOf('create --organization org_1');
    await linesOf('create --organization org_1');
    const [expired, revoked] = file().list();
    file().rotate(expired.keyId, 0, new Date());
    file().revoke(revoked.keyId, new Date());
    for (const command of ['rotate', 'revoke'])
      await expectRefused(`${command} key_none`, 'key key_none does not exist; `list` shows all keys');
    const create = '`create` creates a new key';
    await expectRefused(`rotate ${expired.keyId}`, `key ${expired.keyId} is expired; ${create}`);
    await expectRefused(`rotate ${revoked.keyId}`, `key ${revoked.keyId} is revoked; ${create}`);
    await expectRefused(`list --file ${SCRIPT}`, `${SCRIPT}: it is not an SQLite database`);
    const absent = inFolder('none/keys.sqlite');
    for (const command of ['create --organization org_1', 'list']) {
      await expectRefused(
        `${command} --file ${absent}`,
        `keys file ${absent}: its folder does not exist; if the name is right, create it: mkdir -p ${inFolder('none')}`,
      );
    }
    expect(existsSync(inFolder('none'))).to.equal(false);
  });

  const NOT_AN_EXPIRY =
    'It must be an ISO 8601 date and time with Z or an offset, such as 2027-01-31T20:00:00+01:00, or a whole number';
  const expiries = (reason: string, ...values: readonly string[]) =>
    values.map((value) => [`create --organization a --expires=${value}`, reason]);
  for (const [line, reason] of [
    ['', 'Usage: npm run keys -- '],
    ['destroy', "unknown command 'destroy'"],
    ['create', "'--organization <ID>' not specified"],
    ['create --organization a:b', 'without ":"'],
    ['create --organization a --label x\ny', 'without line breaks'],
    ['revoke', "missing required argument 'KEY_ID'"],
    ...expiries(NOT_AN_EXPIRY, '90', '1.5d', '100000d', '2027-02-30T00:00:00Z'),
    ...expiries(
      'It must be in the future and before the year 10000.',
      '0h',
      '2020-01-31T20:00:00Z',
      '9999-12-31T23:59:59-01:00',
    ),
    [
      'rotate key_1 --overlap 2027-01-31T20:00:00Z',
      'It must be a whole number of days or hours, such as 90d or 12h.',
    ],
    ['list all', 'too many arguments'],
  ]) {
    it(`exits with 2 for ${JSON.stringify(line)}`, async () => {
      const { code, stderr } = await keys(line);
      expect(stderr).to.include(reason);
      expect(code).to.equal(2);
      expect(existsSync(path())).to.equal(false);
    });
  }

  it('sets the exit status of its process, and writes to its standard output', async () => {
    const { stdout } = await run(SCRIPT, ['--help']);
    expect(stdout).to.match(/^Usage: npm run keys -- [^]*create[^]*rotate[^]*list[^]*revoke/);
    expect((await run(SCRIPT, ['destroy'])).code).to.equal(2);
  });
});
