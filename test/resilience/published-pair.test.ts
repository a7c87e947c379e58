import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { changesOf } from '../../src/snapshot/format/open-snapshot.ts';
import { Command } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { organizationOf, recordsOf, writeImport } from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const ROUNDS = byDepth({ short: 10, deep: 150 });
const SEED = 20_261_129;
/** As long as a command takes. */
const LIFE_MS = 900;

describe('A snapshot that several commands publish at the same time', () => {
  const inFolder = folderForAll();
  const random = new Random(SEED);
  const published = () => inFolder('served/a.sqlite');
  const own = SMALL_IMPORT.tickets.filter(({ organizationId }) => organizationId === 'north');
  let feeds = 0;

  /** Runs a command, and kills every second one after some time. Returns its exit status, null if it was killed. */
  async function run(isSafe: boolean, ...args: string[]): Promise<number | null> {
    const command = new Command('scripts/snapshot.ts', args, { SNAPSHOT_DIR: inFolder('served') });
    if (!isSafe && random.below(2) === 0)
      void delay(random.below(LIFE_MS)).then(() => {
        command.kill('SIGKILL');
      });
    const { code, stderr } = await command.ended;
    if (isSafe) expect(code, stderr).to.equal(0);
    return code;
  }

  /** Publishes a change of a ticket, another one each time. */
  async function feed(isSafe = false) {
    const status = `FED ${feeds}`;
    const { ticketId, ...ticket } = own[feeds++ % own.length];
    const input = inFolder(`changes-${feeds}`);
    writeImport(input, { tickets: [{ ticketId, ...ticket, status }] });
    const code = await run(isSafe, 'build', '--input', input, '--base', published(), '--publish', 'a');
    return { id: String(ticketId), status, code };
  }

  const rollback = () => run(false, 'publish', inFolder('kept.sqlite'), '--as', 'a', '--rollback');

  /** Reads the published status of each ticket. */
  function statuses(): Map<string, string> {
    const { tickets } = organizationOf(readSnapshot(published(), { isThorough: true }), 'north');
    return new Map(Array.from(recordsOf(tickets), ([id, { status }]) => [id, String(status)]));
  }

  it(`has each feed that was acknowledged, and none that was refused, also after kills (${ROUNDS} rounds, seed ${SEED})`, async function () {
    this.timeout(ROUNDS * 10_000);
    mkdirSync(inFolder('served'));
    writeImport(inFolder('all'), SMALL_IMPORT);
    await run(true, 'build', '--input', inFolder('all'), '--publish', 'a');
    copyFileSync(published(), inFolder('kept.sqlite'));
    let expected = statuses();
    let [acknowledged, refused, killed, pairs] = [0, 0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const isRolledBack = random.below(4) === 0;
      const others = [run(false, 'tidy', 'a'), ...(isRolledBack ? [rollback()] : [])];
      const fed = await Promise.all([feed(), feed()]);
      await Promise.all(others);
      const found = statuses();
      for (const { id, status, code } of fed) {
        if (code === 0) acknowledged++;
        else if (code === null) killed++;
        else refused++;
        if (code === 0 || (code === null && found.get(id) === status)) expected.set(id, status);
        if (code === 1) expect(found.get(id)).to.not.equal(status);
      }
      // A rollback undoes the feeds before it.
      if (isRolledBack) expected = found;
      expect(found, `round ${round}`).to.deep.equal(expected);
      if (existsSync(changesOf(published()))) pairs++;
    }
    const { id, status } = await feed(true);
    expect(statuses().get(id)).to.equal(status);
    const files = readdirSync(inFolder('served')).filter((name) => name.includes('building'));
    expect(files).to.deep.equal([]);
    for (const count of [acknowledged, killed, pairs]) expect(count).to.be.greaterThan(0);
    expect(acknowledged + refused + killed).to.equal(2 * ROUNDS);
  });
});
