import type { Answer } from './answer.ts';
import type {
  Envelope,
  Filters,
  GetId,
  ListId,
  Page,
  PageFilters,
  RecordOf,
  Retrieved,
  Source,
} from './contract.ts';
import { encodeQuery } from './query.ts';
import { timeOf, type Transport } from './transport.ts';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The records of a list, as they arrive. */
type Records<Id extends ListId> = AsyncGenerator<RecordOf<Id>, void, undefined>;

interface Tagged extends Source {
  /** Entity tag, for the next call. Store it when all records have been read. */
  readonly tag: string;
}

/** A list that differs from the one with an earlier tag. */
export interface ChangedList<Id extends ListId> extends Tagged {
  readonly changed: true;
  /** Read them to the end, or abort the signal: a key may have two open streams. */
  readonly records: Records<Id>;
}

export interface UnchangedList extends Tagged {
  readonly changed: false;
}

export interface PollOptions extends RequestOptions {
  /** Pause between two requests. Default: 60. */
  readonly everySeconds?: number | undefined;
  /** Entity tag from an earlier answer. Without one, the first answer is the current list. */
  readonly tag?: string | undefined;
}

/** Size of the pages of a walk, unless the filters have another: the largest one of the service. */
const PER_PAGE = 100;

/** A list of the service. */
export class List<Id extends ListId> {
  protected readonly transport: Transport;
  readonly #operation: Id;
  readonly #parentId: string | undefined;

  constructor(transport: Transport, operation: Id, parentId?: string) {
    this.transport = transport;
    this.#operation = operation;
    this.#parentId = parentId;
  }

  /** Yields the records, page by page. All of them are of one snapshot. */
  async *list(filters: PageFilters<Id> = {}, options: RequestOptions = {}): Records<Id> {
    for await (const { items } of this.pages(filters, options)) yield* items;
  }

  /** Yields the pages, from page 1 or `filters.page`. Yields none if that page is beyond the last one. */
  async *pages(
    filters: PageFilters<Id> = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Page<Id>, void, undefined> {
    let query: string | undefined = encodeQuery({ perPage: PER_PAGE, ...filters });
    while (query !== undefined) {
      const page: Page<Id> | undefined = await this.#page(query, options);
      if (page === undefined) return;
      yield page;
      query = page.nextPage === null ? undefined : queryOf(page.nextPage);
    }
  }

  /** Yields the records as one stream, without pages. It breaks off if the caller does not read for 30 seconds. */
  async *stream(filters: Filters<Id> = {}, options: RequestOptions = {}): Records<Id> {
    const answer = await this.ifChanged(undefined, filters, options);
    if (answer.changed) yield* answer.records;
  }

  /**
   * Requests the list unless it still has the tag of an earlier answer. Returns the records as a stream.
   * @param tag `tag` of the earlier answer to the same filters; undefined to request the list in any case
   */
  async ifChanged(
    tag: string | undefined,
    filters: Filters<Id> = {},
    options: RequestOptions = {},
  ): Promise<ChangedList<Id> | UnchangedList> {
    const call = { ...this.#call(filters, options), accept: 'application/x-ndjson', tag } as const;
    return this.transport.send(call, (answer) => {
      const tagged = { ...sourceOf(answer), tag: answer.header('ETag') };
      if (answer.status === 304) return { ...tagged, changed: false };
      return { ...tagged, changed: true, records: recordsOf<RecordOf<Id>>(answer) };
    });
  }

  /** Yields the list, and then again each time that it has changed. Ends by the signal or by an error. */
  async *poll(
    filters: Filters<Id> = {},
    { everySeconds = 60, tag, signal }: PollOptions = {},
  ): AsyncGenerator<ChangedList<Id>, void, undefined> {
    const pauseMs = timeOf('everySeconds', everySeconds);
    let latest = tag;
    for (;;) {
      const ending = new AbortController();
      const either = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
      const answer = await this.ifChanged(latest, filters, { signal: either });
      if (answer.changed) {
        try {
          yield answer;
        } finally {
          // The caller may have left records unread.
          ending.abort();
        }
      }
      latest = answer.tag;
      await this.transport.pause(pauseMs, signal);
    }
  }

  #page(query: string, options: RequestOptions): Promise<Page<Id> | undefined> {
    const call = { ...this.#call({}, options), query, accept: 'application/json' } as const;
    return this.transport.send(call, async (answer) => {
      if (answer.status === 204) return undefined;
      return { ...(await envelopeOf<Id>(answer)), ...sourceOf(answer) };
    });
  }

  #call(filters: object, { signal }: RequestOptions) {
    return { operation: this.#operation, id: this.#parentId, query: encodeQuery(filters), signal };
  }
}

/** A list whose records can be retrieved by their ids. */
export class Collection<Id extends ListId, Get extends GetId> extends List<Id> {
  readonly #get: Get;

  constructor(transport: Transport, list: Id, get: Get) {
    super(transport, list);
    this.#get = get;
  }

  /** Returns the record with an id; undefined when the organization has no such record. */
  get(id: string, { signal }: RequestOptions = {}): Promise<Retrieved<Get> | undefined> {
    const call = {
      operation: this.#get,
      id,
      accept: 'application/json',
      mayBeMissing: true,
      signal,
    } as const;
    // The service promises that the body has the form of the OpenAPI document.
    return this.transport.send(call, async (answer) =>
      answer.status === 404 ? undefined : ((await answer.json()) as Retrieved<Get>),
    );
  }
}

/**
 * Returns the query of a link. The client sends it to its own address: the service may know itself by another one, and
 * no other address gets the credential.
 */
function queryOf(link: string): string {
  return new URL(link).search.slice(1);
}

function sourceOf(answer: Answer): Source {
  return {
    snapshotId: answer.header('Service-Snapshot-Id'),
    dataAsOf: answer.header('Service-Data-As-Of'),
  };
}

async function envelopeOf<Id extends ListId>(answer: Answer): Promise<Envelope<Id>> {
  const body = await answer.json();
  const isEnvelope = typeof body === 'object' && body !== null && 'items' in body && 'nextPage' in body;
  if (!isEnvelope || !Array.isArray(body.items)) throw answer.malformed('is not a page');
  const { nextPage } = body;
  if (nextPage !== null && !(typeof nextPage === 'string' && URL.canParse(nextPage)))
    throw answer.malformed('has an invalid nextPage');
  // The service promises the rest of the form.
  return body as Envelope<Id>;
}

/** Yields the records of a stream. A stream that breaks off raises a ConnectionError. */
async function* recordsOf<Record>(answer: Answer): AsyncGenerator<Record, void, undefined> {
  let count = 0;
  // The service promises that each line is a record.
  for await (const records of answer.lines() as AsyncIterable<Record[]>) {
    count += records.length;
    yield* records;
  }
  if (count !== Number(answer.header('Service-Record-Count'))) throw answer.incomplete();
}
