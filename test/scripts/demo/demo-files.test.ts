import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { demoCredential } from '../../../scripts/demo/demo-credential.ts';
import { DemoSample } from '../../../scripts/demo/demo-sample.ts';
import { makeDemoSnapshot } from '../../../scripts/demo/make-demo-snapshot.ts';
import { Refused } from '../../../scripts/run-command.ts';
import { parseCredential } from '../../../src/keys/credential.ts';
import { KeyRing } from '../../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../../src/keys/keys-file.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { runHere } from '../../support/command.ts';
import { buildFile } from '../../support/import-folder.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { folderForAll, folderForEach } from '../../support/temporary-folder.ts';

/** Runs work of the demo. Returns its result or refusal, and what it printed on standard error. */
async function captured(work: () => unknown): Promise<{ result: unknown; stderr: string }> {
  let result: unknown;
  const { stderr } = await runHere(async () => {
    result = await Promise.try(work).catch((error: unknown) => {
      if (error instanceof Refused) return error;
      throw error;
    });
    return 0;
  }, []);
  return { result, stderr };
}

function expectRefusal(result: unknown, message: RegExp): void {
  expect(result).to.be.instanceOf(Refused).with.property('message').that.matches(message);
}

describe('The snapshot of the demo', () => {
  const source = folderForAll();
  const inFolder = folderForEach();
  const path = () => inFolder('demo.sqlite');
  const makeSnapshot = (to: string) => {
    copyFileSync(source('sample.sqlite'), to);
    return Promise.resolve();
  };
  /** @param own the folder that belongs to the demo */
  const prepare = (own = 'data/demo/snapshots', folder = inFolder('')) =>
    captured(() => new DemoSample(folder, own, makeSnapshot).prepare());

  before(() => buildFile(SMALL_IMPORT, source('sample.sqlite')));

  it('is replaced if it is damaged, but only where the demo created it', async () => {
    writeFileSync(path(), 'garbage');
    const { result: refusal, stderr: silence } = await prepare();
    expectRefusal(refusal, /unset SNAPSHOT_DIR/);
    expect(silence).to.equal('');
    expect(readFileSync(path(), 'utf8')).to.equal('garbage');

    rmSync(path());
    await prepare();
    writeFileSync(path(), 'garbage');
    const { result, stderr } = await prepare();
    expect(result).to.deep.equal(inspectSnapshot(source('sample.sqlite')));
    expect(stderr).to.match(/^The demo replaces \S+demo\.sqlite: .*\.\n$/);
    expect(await prepare()).to.include({ stderr: '' });
  });

  it('is replaced with its journal in the folder that belongs to the demo, without a mark of it', async () => {
    await makeSnapshot(path());
    writeFileSync(`${path()}-journal`, 'interrupted');
    expect((await prepare(inFolder(''))).stderr).to.include('a -journal file exists');
    expect(inspectSnapshot(path()).organizations).to.have.length(2);
  });

  it('is not added to a folder with other snapshots', async () => {
    await makeSnapshot(inFolder('main.sqlite'));
    const { result } = await prepare();
    expectRefusal(result, /holds other snapshots \(main\.sqlite\)/);
    expect(readdirSync(inFolder(''))).to.deep.equal(['main.sqlite']);
  });

  it('is served as it is if it is sound, also where the demo did not create it', async () => {
    await makeSnapshot(path());
    expect((await prepare()).stderr).to.equal('');
    expect(readdirSync(inFolder(''))).to.deep.equal(['demo.sqlite']);
  });

  it('is refused in one line if its folder cannot be written, or if it is a folder', async () => {
    writeFileSync(inFolder('file'), '');
    const folder = inFolder('file/snapshots');
    const { result } = await captured(() => new DemoSample(folder, '', makeDemoSnapshot).prepare());
    expectRefusal(result, /^SNAPSHOT_DIR is \S+: the demo cannot write there: ENOTDIR/);
    mkdirSync(path());
    expect((await prepare()).result).to.have.property('message', `${path()}: it is not a regular file`);
  });
});

describe('The key of the demo', () => {
  const inFolder = folderForEach();
  const path = () => inFolder('keys/keys.sqlite');
  const credential = (own = 'data/demo/keys.sqlite') => captured(() => demoCredential(path(), own, 'org_1'));
  const stateOf = (text: unknown) => {
    const { organizationId = '', secret = '' } = parseCredential(`Bearer ${String(text)}`) ?? {};
    return new KeyRing(readKeys(path())).check(organizationId, secret, Date.now()).outcome;
  };

  it('stays the same while it is valid, and is replaced once it is revoked', async () => {
    const { result: first, stderr } = await credential();
    expect([stateOf(first), stderr]).to.deep.equal(['valid', '']);
    expect((await credential()).result).to.equal(first);
    const file = new KeysFile(path());
    file.revoke(file.list()[0].keyId, new Date());
    const { result: second } = await credential();
    expect([stateOf(second), stateOf(first)]).to.deep.equal(['valid', 'revoked']);
  });

  it('is replaced if its file is damaged', async () => {
    await credential();
    writeFileSync(`${path()}.demo-credential`, 'garbage\0\n\n');
    const { result, stderr } = await credential();
    expect([stateOf(result), stderr]).to.deep.equal(['valid', '']);
  });

  it('is not added to a keys file that the demo did not create, sound or damaged', async () => {
    mkdirSync(inFolder('keys'));
    new KeysFile(path()).create('org_1', 'till', new Date());
    for (const bytes of [readFileSync(path()), Buffer.from('garbage')]) {
      writeFileSync(path(), bytes);
      const { result } = await credential();
      expectRefusal(result, /which the demo did not create/);
      expect(readFileSync(path()).equals(bytes)).to.equal(true);
      expect(existsSync(`${path()}.demo-credential`)).to.equal(false);
    }
    expect(stateOf((await credential(path())).result)).to.equal('valid');
  });

  it('is refused in one line if its folder cannot be written', async () => {
    writeFileSync(inFolder('keys'), '');
    expectRefusal((await credential()).result, /^KEYS_FILE is \S+: the demo cannot use it: EEXIST/);
  });
});
