import { instantOrder } from '../store/instant-order.ts';
import { KeyTableBuilder } from '../store/key-table.ts';
import type { Floats, Int64s, Uint32s } from '../store/shared.ts';
import type { FieldProblem } from './import-schema.ts';
import type { CollectionLayout } from './layout.ts';
import { idBounds, packedFieldNames, unpackRow } from './packed-rows.ts';
import type { PackedRows } from './packed-rows.ts';
import { RunFile } from './run-file.ts';

/** Whether a row may be taken in; what is wrong with it when not. */
export type Admit = (organizationId: string, fields: readonly Buffer[]) => FieldProblem | undefined;

/**
 * The rows of one collection between import and snapshot: the fields in a file; in memory, by organization, what
 * is needed to put them in order and to find an id that comes twice.
 */
export class StagedRows {
  readonly layout: CollectionLayout;
  readonly fieldNames: readonly string[];
  readonly #file: RunFile;
  /** Bytes of the rows that are not in the file yet. */
  #waitingBytes = 0;
  readonly #organizations = new Map<string, StagedOrganization>();

  /** `path`: a file that is not there yet. */
  constructor(path: string, layout: CollectionLayout) {
    this.#file = new RunFile(path);
    this.layout = layout;
    this.fieldNames = packedFieldNames(layout);
  }

  /** Adds rows; calls `refuse` with each that is not admitted or whose id is there already, and leaves it out. */
  add(
    rows: PackedRows,
    admit: Admit | undefined,
    refuse: (organizationId: string, fields: readonly Buffer[], line: number, problem: FieldProblem) => void,
  ): void {
    const bytes = Buffer.from(rows.bytes.buffer, rows.bytes.byteOffset, rows.bytes.length);
    const organizations = rows.organizations.map((id) => this.organization(id));
    const fieldsOf = (row: number) => unpackRow(bytes.subarray(rows.starts[row]), this.fieldNames.length);
    for (let row = 0; row < rows.count; row++) {
      const organization = rows.organizationOf[row];
      const organizationId = rows.organizations[organization];
      const problem =
        admit?.(organizationId, fieldsOf(row)) ??
        organizations[organization].add(rows, bytes, row, this.fieldNames.length);
      if (problem !== undefined) refuse(organizationId, fieldsOf(row), rows.lines[row], problem);
    }
    this.#waitingBytes += bytes.length;
    if (RunFile.isRun(this.#waitingBytes)) this.flush();
  }

  /** Brings the rows that wait into the file; due after the last row, before any is read. */
  flush(): void {
    this.#file.beginRun();
    for (const organization of this.#organizations.values()) organization.writeTo(this.#file);
    this.#file.endRun();
    this.#waitingBytes = 0;
  }

  organization(id: string): StagedOrganization {
    let organization = this.#organizations.get(id);
    if (organization === undefined)
      this.#organizations.set(id, (organization = new StagedOrganization(this.layout)));
    return organization;
  }

  /** The fields of a row, in the order of their names; valid until the next call. */
  read(organization: StagedOrganization, key: number): Buffer[] {
    const row = this.#file.read(organization.positionOf(key), organization.lengthOf(key));
    return unpackRow(row, this.fieldNames.length);
  }

  /** One field of a row. */
  readField(organization: StagedOrganization, key: number, name: string): string {
    return this.read(organization, key)[this.fieldNames.indexOf(name)].toString();
  }

  close(): void {
    this.#file.close();
  }
}

/** The staged rows of one organization. A row is known by the number that its id has among the organization's. */
export class StagedOrganization {
  readonly ids = new KeyTableBuilder();
  readonly #layout: CollectionLayout;
  #positions: Floats = new Float64Array(64);
  #lengths: Uint32s = new Uint32Array(64);
  #lines: Uint32s = new Uint32Array(64);
  #orderedBy: Int64s = new BigInt64Array(64);
  /** The last rows, which are not in the file yet. */
  #waiting: Buffer[] = [];

  constructor(layout: CollectionLayout) {
    this.#layout = layout;
  }

  get count(): number {
    return this.ids.count;
  }

  idOf(key: number): string {
    return Buffer.from(this.ids.key(key)).toString();
  }

  lineOf(key: number): number {
    return this.#lines[key];
  }

  positionOf(key: number): number {
    return this.#positions[key];
  }

  lengthOf(key: number): number {
    return this.#lengths[key];
  }

  /** Adds a row of a block, unless its id is there already. */
  add(rows: PackedRows, bytes: Buffer, row: number, fieldCount: number): FieldProblem | undefined {
    const start = rows.starts[row];
    const key = this.count;
    const found = this.ids.intern(bytes, ...idBounds(bytes, start, fieldCount));
    if (found < key) {
      const reason = `"${this.idOf(found)}" is there already, on line ${this.#lines[found]}`;
      return { field: this.#layout.resource.id, reason };
    }
    if (key === this.#positions.length) this.#grow(key * 2);
    this.#waiting.push(bytes.subarray(start, rows.starts[row + 1]));
    this.#lengths[key] = rows.starts[row + 1] - start;
    this.#lines[key] = rows.lines[row];
    this.#orderedBy[key] = rows.orderedBy[row];
    return undefined;
  }

  /** Writes the rows that wait to a file, in the order of their instants. */
  writeTo(file: RunFile): void {
    const first = this.count - this.#waiting.length;
    for (const i of this.#instantOrder(first)) this.#positions[first + i] = file.append(this.#waiting[i]);
    this.#waiting = [];
  }

  /** The rows in the order of the list: by instant, ties by id, ascending by code unit. */
  inOrder(): Uint32s {
    const instants = this.#orderedBy;
    const order = this.#instantOrder(0);
    for (let from = 0, to = 0; from < order.length; from = to) {
      while (to < order.length && instants[order[to]] === instants[order[from]]) to++;
      if (to - from > 1) this.#sortById(order.subarray(from, to));
    }
    return order;
  }

  /** The rows from `first` on by their instants, counted from it. */
  #instantOrder(first: number): Uint32s {
    const order = instantOrder(this.#orderedBy.slice(first, this.count));
    if (this.#layout.orderedBy.descending) order.reverse();
    return order;
  }

  /** Sorts rows by id, in place. JavaScript compares texts by code unit, which is not the order of their bytes. */
  #sortById(keys: Uint32s): void {
    const byId = Array.from(keys, (key) => ({ key, id: this.idOf(key) }));
    byId.sort((a, b) => (a.id < b.id ? -1 : 1));
    byId.forEach(({ key }, i) => {
      keys[i] = key;
    });
  }

  #grow(capacity: number): void {
    const positions = new Float64Array(capacity);
    positions.set(this.#positions);
    this.#positions = positions;
    const lengths = new Uint32Array(capacity);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
    const lines = new Uint32Array(capacity);
    lines.set(this.#lines);
    this.#lines = lines;
    const orderedBy = new BigInt64Array(capacity);
    orderedBy.set(this.#orderedBy);
    this.#orderedBy = orderedBy;
  }
}
