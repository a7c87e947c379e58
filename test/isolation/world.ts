import type { KeyRing } from '../../src/keys/key-ring.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import type { OrganizationStore, Section, StoreView } from '../../src/store/registry/store-view.ts';
import { type ApiResponse, type RequestOptions, TestApi } from '../support/test-api.ts';
import { WALKED } from '../support/empty-image.ts';

/** The observed organization, and the other one. */
export const OWNERS = ['observed', 'other'] as const;
export type Owner = (typeof OWNERS)[number];

/** The contents of each organization. */
export type Snapshots = Readonly<Record<Owner, readonly SnapshotImage[]>>;

/** An app over both organizations, or over the observed one alone. Its registry is replaced for each run. */
export class World {
  /** The content that the other organization has first; undefined when the organization does not exist. */
  readonly other: number | undefined;
  readonly #snapshots: Snapshots;
  readonly #served = newServedDigests();
  #registry = new StoreRegistry(this.#served);
  #linesBefore = 0;
  #asking: Owner = 'observed';
  #api: TestApi | undefined;
  /** Reads of stores of the organization that does not ask. */
  foreignReads = 0;

  constructor(other: number | undefined, snapshots: Snapshots) {
    this.other = other;
    this.#snapshots = snapshots;
  }

  async start(ring: KeyRing): Promise<void> {
    this.#api = await TestApi.start({
      stores: () => this.#watchedView(),
      keys: () => ring,
      // Time stands still, so that the responses do not depend on the speed of the machine.
      pins: new Pins(this.#served, () => 1),
      config: { publicBaseUrl: 'https://api.example.org', rateLimitPerMinute: 1_000_000 },
    });
    this.reset();
  }

  async stop(): Promise<void> {
    await this.#api?.stop();
  }

  reset(): void {
    this.#served.fill(0n);
    this.#registry = new StoreRegistry(this.#served);
    this.#linesBefore = this.#api?.logged.length ?? 0;
    this.swap('observed', 0);
    this.swap('other', this.other ?? 0);
  }

  has(owner: Owner): boolean {
    return owner === 'observed' || this.other !== undefined;
  }

  swap(of: Owner, content: number): void {
    if (this.has(of)) this.#registry.swap(`${of}.sqlite`, this.#snapshots[of][content]);
  }

  release(): void {
    this.#registry.releaseExpired(WALKED);
  }

  ask(as: Owner, target: string, { headers, ...options }: RequestOptions): Promise<ApiResponse> {
    if (this.#api === undefined) throw new Error('not started yet');
    this.#asking = as;
    const all = { 'Service-API-Version': 'preview', 'X-Request-Id': 'isolation', ...headers };
    return this.#api.send(target, { as: undefined, headers: all, ...options });
  }

  /** Returns the lines of the log for the observed organization since the reset, without times. */
  observedLines(): string[] {
    const lines = this.#api?.logged.slice(this.#linesBefore) ?? [];
    return lines
      .filter(({ organizationId }) => organizationId === 'observed')
      .map((line) => JSON.stringify({ ...line, time: 0, durationMs: 0 }));
  }

  /** Returns the view with stores that count each read, for the organization that does not ask. */
  #watchedView(): StoreView {
    const counted = <Part extends OrganizationStore | Section>(part: Part): Part =>
      part.organizationId === this.#asking
        ? part
        : new Proxy(part, {
            get: (of, name): unknown => {
              this.foreignReads++;
              return Reflect.get(of, name, of);
            },
          });
    return new Map(
      this.#registry.view
        .entries()
        .map(([id, store]) => [id, counted({ ...store, retained: store.retained.map(counted) })]),
    );
  }
}
