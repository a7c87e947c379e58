import type { operations } from './generated/openapi.ts';
import type { OPERATIONS } from './generated/operations.ts';

/** Types of requests and responses, derived from the OpenAPI document. */

export type OperationId = keyof typeof OPERATIONS;
export type ListId = Extract<OperationId, `list${string}`>;
export type GetId = Extract<OperationId, `get${string}`>;

/** The records of a list. */
export type RecordOf<Id extends ListId> = Envelope<Id>['items'][number];

/** The record that an operation retrieves. */
export type Retrieved<Id extends GetId> = operations[Id]['responses'][200]['content']['application/json'];

/** A line of a stream of changes. */
export type Change = operations['readChanges']['responses'][200]['content']['application/x-ndjson'];

/** The snapshot that a response shows. */
export interface Source {
  readonly snapshotId: string;
  /** Time of the data, ISO 8601. */
  readonly dataAsOf: string;
}

/** A page of a list, and the snapshot that it shows. */
export type Page<Id extends ListId> = Envelope<Id> & Source;

export type Envelope<Id extends ListId> = operations[Id]['responses'][200]['content']['application/json'];

/** The filters of a list. The bounds of a window are an object: `{ updatedAt: { gte, lte } }`. */
export type Filters<Id extends ListId> = Plain<Query<Id>, Paging> & Windows<Query<Id>>;

/** The filters of a walk, with `page` (the first page to read) and `perPage`. */
export type PageFilters<Id extends ListId> = Plain<Query<Id>> & Windows<Query<Id>>;

/** A Date, or ISO 8601 text with Z or an offset. */
export type Instant = Date | string;

type Query<Id extends ListId> = NonNullable<operations[Id]['parameters']['query']>;
type Paging = 'page' | 'perPage';
/** The parameter that only links set. */
type Pin = 'snapshot';

/** The parameters except windows. They are mapped by `as`, which keeps their descriptions for editors. */
type Plain<Q, Omitted = never> = {
  readonly [Name in keyof Q as Exclude<Name, `${string}.${string}` | Pin | Omitted>]?:
    Immutable<Q[Name]> | undefined;
};

type Immutable<T> = T extends readonly (infer Element)[] ? readonly Element[] : T;

type Windows<Q> = {
  readonly [Field in FieldOf<keyof Q>]?: Bounds<BoundOf<keyof Q, Field>> | undefined;
};

type Bounds<Name extends string> = Partial<Readonly<Record<Name, Instant | undefined>>>;
type FieldOf<Name> = Name extends `${infer Field}.${string}` ? Field : never;
type BoundOf<Name, Field extends string> = Name extends `${Field}.${infer Bound}` ? Bound : never;
