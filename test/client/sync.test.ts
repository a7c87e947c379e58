import { expect } from 'chai';
import {
  type ClientOptions,
  type Copy,
  type Entry,
  FoyerError,
  type RecordKey,
  type SyncOptions,
  type SyncState,
} from '../../client/src/foyer-client.ts';
import { rejectionOf } from '../support/refusal.ts';
import { broken, clientOf, type Outcome, refused } from './scripted-client.ts';

const RESET = { change: 'reset' };
const END = { change: 'end', next: 'b', dataAsOf: '2026-11-03T04:00:00.000Z', counts: { tickets: 1 } };

const put = (id: string, text = '') => ({ change: 'put', collection: 'tickets', id, record: { text } });
const removal = (id: string) => ({ change: 'delete', collection: 'tickets', id });
const textOf = (...lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** Returns a response of these lines, which arrive in pieces. */
function streamOf(...lines: readonly unknown[]): Response {
  const pieces = textOf(...lines).match(/[^]{1,150}/g) ?? [];
  return new Response(ReadableStream.from(pieces).pipeThrough(new TextEncoderStream()));
}

/** A copy in memory, with the calls that it got. */
class MemoryCopy implements Copy {
  entries = new Map<string, Entry | undefined>([['tickets old', undefined]]);
  token: string | undefined = 'a';
  readonly calls: string[] = [];
  #draft = this.entries;

  begin(): void {
    this.calls.push('begin');
    this.#draft = new Map(this.entries);
  }

  clear(): void {
    this.#draft.clear();
  }

  remove(keys: readonly RecordKey[]): void {
    for (const { collection, id } of keys) this.#draft.delete(`${collection} ${id}`);
  }

  async put(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) this.#draft.set(`${entry.collection} ${entry.id}`, entry);
    await Promise.resolve();
  }

  commit(state: SyncState): void {
    this.calls.push('commit');
    this.entries = this.#draft;
    this.token = state.next;
  }

  rollback(): void {
    this.calls.push('rollback');
  }
}

describe('A sync of the TypeScript client', () => {
  let copy: MemoryCopy;

  beforeEach(() => {
    copy = new MemoryCopy();
  });

  /** Makes a round whose requests have these outcomes. Returns its result, and what was requested. */
  function sync(outcomes: readonly Outcome[], options: SyncOptions & Partial<ClientOptions> = {}) {
    const { client, requests, pauses } = clientOf(outcomes, options);
    return { done: client.sync(copy, copy.token, options), requests, pauses };
  }

  function expectUnchanged(...calls: readonly string[]): void {
    expect([...copy.entries.keys()]).to.deep.equal(['tickets old']);
    expect(copy).to.deep.include({ token: 'a', calls });
  }

  it('applies the changes since its token, of the requested collections', async () => {
    copy.entries = new Map(['old', 'kept', 'new'].map((id) => [`tickets ${id}`, undefined]));
    const { done, requests } = sync(
      [streamOf(removal('old'), removal('unknown'), put('new', '“é ”\n'), put('other'), END)],
      { collections: ['tickets', 'orders'] },
    );
    await done;
    expect([...copy.entries]).to.deep.equal([
      ['tickets kept', undefined],
      ['tickets new', put('new', '“é ”\n')],
      ['tickets other', put('other')],
    ]);
    expect(new URL(requests[0].url).search).to.equal('?since=a&collections=tickets,orders');
  });

  for (const [title, body] of [
    ['breaks off within a line', () => broken(textOf(RESET, put('new')) + '{"change"')],
    ['ends within its last line', () => textOf(RESET, END).slice(0, -1)],
    ['lacks its last line', () => textOf(RESET, put('new'))],
    ['has a change that the client does not know', () => textOf(put('new'), { change: 'merge' }, END)],
    ['has a reset after other changes', () => textOf(put('new'), RESET, END)],
  ] as const) {
    it(`applies nothing of a stream that ${title}`, async () => {
      const { done } = sync([new Response(body())], { maxAttempts: 1 });
      expect(await rejectionOf(done)).to.be.instanceOf(FoyerError);
      expectUnchanged('begin', 'rollback');
    });
  }

  it('repeats a round whose stream breaks off, and waits without a transaction after 429 and errors of the server', async () => {
    const wait = refused(429, { 'Retry-After': '5' });
    const cut = new Response(broken(textOf(RESET)));
    const { done, requests, pauses } = sync([wait, refused(503), cut, streamOf(put('new'), END)]);
    await done;
    expect([...copy.entries.keys()]).to.deep.equal(['tickets old', 'tickets new']);
    expect(copy).to.deep.include({ token: 'b', calls: ['begin', 'rollback', 'begin', 'commit'] });
    expect(requests.map(({ url }) => new URL(url).search)).to.deep.equal(Array(4).fill('?since=a'));
    expect(pauses).to.have.length(3).and.to.include(5000);
  });

  it('rolls back when the caller aborts during the stream', async () => {
    const ending = new AbortController();
    const reason = new Error('stopped by the caller');
    copy.remove = () => {
      ending.abort(reason);
    };
    const { done } = sync([new Response(broken(textOf(removal('old'))))], { signal: ending.signal });
    expect(await rejectionOf(done)).to.equal(reason);
    expectUnchanged('begin', 'rollback');
  });

  it('raises an error of the copy, and does not repeat the round', async () => {
    const full = new Error('the disk is full');
    copy.put = () => Promise.reject(full);
    expect(await rejectionOf(sync([streamOf(put('new'), END), streamOf(END)]).done)).to.equal(full);
    expectUnchanged('begin', 'rollback');
    copy.begin = () => {
      throw full;
    };
    expect(await rejectionOf(sync([streamOf(END)]).done)).to.equal(full);
  });

  it('raises both errors when the rollback fails as well', async () => {
    const full = new Error('the disk is full');
    const none = new Error('no transaction is active');
    copy.commit = () => {
      throw full;
    };
    copy.rollback = () => {
      throw none;
    };
    const error = await rejectionOf(sync([streamOf(END)]).done);
    expect(error).to.be.instanceOf(AggregateError).and.to.have.deep.property('errors', [full, none]);
    expect(error.message).to.include(full.message);
  });
});
