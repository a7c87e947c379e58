import { copyFileSync, mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { main } from '../../scripts/snapshot.ts';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { runHere } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { buildFile, PRODUCED_AT } from '../support/import-folder.ts';
import { newCredential } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Fleet, type Member, whileWalking } from './fleet.ts';
import type { ProxyProgram } from './proxy.ts';

/** It is the first of all. */
const MOVING = '!moving';
/** Ids with characters that mean something in maps, and two that differ in case only. */
const WEST = ['west', MOVING, 'Case', '#1', 'a"b\\c', 'default', 'with.dot'];
const EAST = ['east', 'case', '~^o', '$route{;}', "'", '\\default', 'include'];
const TICKETS = 60;
const LATER = new Date(PRODUCED_AT.getTime() + 60_000);

for (const program of ['nginx', 'haproxy'] satisfies readonly ProxyProgram[]) {
  describe(`Shards behind ${program}`, () => {
    needs(program, 'openssl');
    const inFolder = folderForAll();
    const credentials = new Map<string, string>();
    let memory = '';
    let fleet: Fleet;

    before(async () => {
      for (const id of [...WEST, ...EAST]) credentials.set(id, newCredential(inFolder, id));
      mkdirSync(inFolder('next'));
      for (const [name, producedAt, organizations] of [
        ['west', PRODUCED_AT, WEST],
        ['east', PRODUCED_AT, EAST],
        ['next/west', LATER, WEST.filter((id) => id !== MOVING)],
        ['next/east', LATER, [...EAST, MOVING]],
      ] as const)
        await buildFile(smallImport(organizations), inFolder(`${name}.sqlite`), { producedAt });
      mkdirSync(inFolder('maps'));
      // Enough for the largest file, and not for two.
      const { organizations } = inspectSnapshot(inFolder('next/east.sqlite'));
      memory = `${(plannedMemory([memoryNeed(organizations)]) / 1e6 + 0.1).toFixed(1)}M`;
      await plan('west', 'east');
      fleet = await Fleet.start({
        program,
        shards: [1, 1],
        inFolder,
        environment: { RATE_LIMIT_PER_MINUTE: '0' },
        place: (inOwn, id) => {
          const name = id === 1 ? 'west' : 'east';
          copyFileSync(inFolder(`${name}.sqlite`), inOwn(`snapshots/${name}.sqlite`));
        },
      });
      await loadMap();
    });

    after(() => fleet[Symbol.asyncDispose]());

    async function command(line: readonly string[], environment = {}): Promise<void> {
      const { code, stderr } = await runHere(main, line, environment);
      expect(code, stderr).to.equal(0);
    }

    function plan(...names: readonly string[]): Promise<void> {
      const files = names.map((name) => inFolder(`${name}.sqlite`));
      return command(['plan', '--memory', memory, '--output', inFolder('maps'), ...files]);
    }

    async function loadMap(): Promise<void> {
      copyFileSync(inFolder(`maps/${program}.map`), fleet.proxy.map);
      await fleet.proxy.reload();
    }

    /** Publishes the next snapshot of a replica, and waits until it is live. */
    async function publish(
      { process, inFolder: inOwn }: Member,
      name: string,
      ...options: readonly string[]
    ) {
      const file = inFolder(`next/${name}.sqlite`);
      await command(['publish', file, '--as', name, ...options], { SNAPSHOT_DIR: inOwn('snapshots') });
      await process.waitForLog({ msg: 'snapshot live', snapshotId: inspectSnapshot(file).snapshotId });
    }

    const ask = (id: string, path = '/v1/events') =>
      fleet.client.get(path, credentials.get(id), { 'Service-API-Version': 'preview' });

    async function snapshotOf(id: string): Promise<unknown> {
      const { status, headers, text } = await ask(id);
      expect(status, text).to.equal(200);
      return headers['service-snapshot-id'];
    }

    it('have the organizations of the plan, whatever characters their ids have', async () => {
      for (const [name, ids] of Object.entries({ west: WEST, east: EAST })) {
        const { snapshotId } = inspectSnapshot(inFolder(`${name}.sqlite`));
        for (const id of ids) expect(await snapshotOf(id), id).to.equal(snapshotId);
      }
    });

    it('hand an organization over without a gap, by the documented steps', async () => {
      const [west, east] = fleet.members;
      const copied = (await ask(MOVING, '/v1/changes')).text;
      const end = JSON.parse(copied.trimEnd().split('\n').at(-1) ?? '') as { next: string };
      const walked = [MOVING, MOVING, 'west', 'east'].map((id) => ({
        credential: credentials.get(id) ?? '',
        tickets: TICKETS,
      }));
      const repeats = await whileWalking(fleet, walked, async (walks) => {
        await walks(20);
        await publish(east, 'east');
        await plan('next/west', 'next/east');
        await loadMap();
        await walks(20);
        await publish(west, 'west', '--allow-shrink');
        await walks(20);
      });
      // A reload closes idle connections, as a client may be about to use one.
      expect(repeats).to.have.property('later', 0);
      expect(await snapshotOf(MOVING)).to.equal(inspectSnapshot(inFolder('next/east.sqlite')).snapshotId);
      expect(await snapshotOf('west')).to.equal(inspectSnapshot(inFolder('next/west.sqlite')).snapshotId);
      // Its integrators copy all records once more.
      const { status, text } = await ask(MOVING, `/v1/changes?since=${encodeURIComponent(end.next)}`);
      expect({ status, first: text.split('\n')[0] }).to.deep.equal({
        status: 200,
        first: '{"change":"reset"}',
      });
    });
  });
}
