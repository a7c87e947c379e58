import { parseTimestamp } from '../contract/timestamp.ts';
import type { Bytes, Int64s, Uint32s } from '../store/shared.ts';
import { textIn } from './json-values.ts';
import { SESSIONS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import type { ReadRecord } from './record-reader.ts';

/**
 * The fields of a packed row by their names: the id, the columns of keys and of instants, the JSON text, a list of
 * values for each relation, and of a session the id of its event and its start as it was written.
 */
export function packedFieldNames(layout: CollectionLayout): readonly string[] {
  return [
    layout.idColumn,
    ...layout.keys.map(({ column }) => column),
    ...layout.instants.map(({ column }) => column),
    'record',
    ...layout.relations.map(({ table }) => table),
    ...(layout === SESSIONS ? ['event_id', 'start_at', 'starts'] : []),
  ];
}

export function packedFields(layout: CollectionLayout, record: ReadRecord): string[] {
  const { served, imported } = record;
  return [
    record.id,
    ...layout.keys.map(({ of }) => of(record)).map((key) => (isFindable(key) ? key : '')),
    ...layout.instants.map(({ index }) => String(parseTimestamp(textIn(served[index])))),
    record.json,
    ...layout.relations.map(({ of }) => packList([...new Set(of(record).filter(isFindable))])),
    ...(layout === SESSIONS
      ? [textIn(imported['eventId']), textIn(served['startAt']), String(record.orderedBy)]
      : []),
  ];
}

/** Text with half of a surrogate pair is served, but no request can name it: encoded, it would be another's. */
function isFindable(text: string): boolean {
  return text.isWellFormed();
}

/** A list of texts as netstrings, `5:hello3:you`, since there is no character that a text may not hold. */
function packList(values: readonly string[]): string {
  return values.map((value) => `${Buffer.byteLength(value)}:${value}`).join('');
}

export function unpackList(bytes: Bytes): Bytes[] {
  const values: Bytes[] = [];
  for (let at = 0; at < bytes.length;) {
    let length = 0;
    for (; bytes[at] !== COLON; at++) length = length * 10 + bytes[at] - DIGIT_0;
    values.push(bytes.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return values;
}

const COLON = 0x3a;
const DIGIT_0 = 0x30;

/**
 * Rows on their way from the threads that read the import to the one that writes the snapshot.
 *
 *     bytes    the rows, one after the other; a row is, for each of its fields, where it ends (32 bits, little
 *              endian, from the start of the row), and then the fields
 *     starts   starts[r] … starts[r + 1] is row r in it
 */
export interface PackedRows {
  readonly count: number;
  readonly bytes: Buffer<ArrayBuffer>;
  readonly starts: Uint32s;
  /** By row: what the list is ordered by, the line of the import, and which of `organizations` it belongs to. */
  readonly orderedBy: Int64s;
  readonly lines: Uint32s;
  readonly organizationOf: Uint32s;
  readonly organizations: readonly string[];
}

/** Bytes of the end of a field. */
const END_BYTES = 4;

export class RowPacker {
  #bytes: Buffer;
  #length = 0;
  readonly #starts: number[] = [0];
  readonly #orderedBy: bigint[] = [];
  readonly #lines: number[] = [];
  readonly #organizationOf: number[] = [];
  readonly #organizations = new Map<string, number>();

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expectedBytes);
  }

  add(organizationId: string, line: number, orderedBy: bigint, fields: readonly string[]): void {
    // Three bytes a character is the most that UTF-8 takes for one of UTF-16.
    let most = fields.length * END_BYTES;
    for (const field of fields) most += field.length * 3;
    this.#reserve(most);
    const start = this.#length;
    let end = start + fields.length * END_BYTES;
    for (let i = 0; i < fields.length; i++) {
      end += this.#bytes.write(fields[i], end);
      this.#bytes.writeUInt32LE(end - start, start + i * END_BYTES);
    }
    this.#length = end;
    let organization = this.#organizations.get(organizationId);
    if (organization === undefined) {
      organization = this.#organizations.size;
      this.#organizations.set(organizationId, organization);
    }
    this.#starts.push(this.#length);
    this.#organizationOf.push(organization);
    this.#lines.push(line);
    this.#orderedBy.push(orderedBy);
  }

  finish(): PackedRows {
    return {
      count: this.#lines.length,
      // A copy of the exact size: a view would take all of its memory along to the other thread.
      bytes: Buffer.from(new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer),
      starts: Uint32Array.from(this.#starts),
      orderedBy: BigInt64Array.from(this.#orderedBy),
      lines: Uint32Array.from(this.#lines),
      organizationOf: Uint32Array.from(this.#organizationOf),
      organizations: [...this.#organizations.keys()],
    };
  }

  #reserve(needed: number): void {
    if (this.#length + needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + needed));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Where the id of a row, its first field, begins and ends. `start`: where the row begins in `bytes`. */
export function idBounds(bytes: Buffer, start: number, fieldCount: number): [start: number, end: number] {
  return [start + fieldCount * END_BYTES, start + bytes.readUInt32LE(start)];
}

/** The fields of one packed row. */
export function unpackRow(row: Buffer, fieldCount: number): Buffer[] {
  const fields: Buffer[] = [];
  for (let i = 0, start = fieldCount * END_BYTES; i < fieldCount; i++) {
    const end = row.readUInt32LE(i * END_BYTES);
    fields.push(row.subarray(start, end));
    start = end;
  }
  return fields;
}
