import { isUtf8 } from 'node:buffer';
import { createReadStream, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Fields, id, text, texts } from '../../contract/field.ts';
import { type CollectionLayout, COLLECTIONS } from '../format/layout.ts';

/** The files of an import folder, one JSON object a line. Any may be compressed, `.ndjson.gz`. */

export const ORGANIZATIONS_FILE = 'organizations';

/** Fields that an import record carries beside those that are served. */
const ORGANIZATION_ID = id('Organization of the record.', 'org_1');
export const ORGANIZATION_FIELDS: Fields = {
  organizationId: ORGANIZATION_ID,
  name: text('Name, for people.', 'Théâtre'),
};

const ASIDE: Readonly<Record<string, Fields>> = {
  sessions: { eventId: id('Event of the session.', 'evt_42') },
  offers: { heldByEventIds: texts('Events that hold a PRODUCT or BUNDLE.', ['evt_42']) },
};

export function asideFields({ name }: CollectionLayout): Fields {
  return { organizationId: ORGANIZATION_ID, ...ASIDE[name] };
}

export const IMPORT_FILES: readonly string[] = [ORGANIZATIONS_FILE, ...COLLECTIONS.map(({ name }) => name)];

/** Some whole lines of an import file. */
export interface LineBlock {
  /** In memory of its own, which may be transferred to another thread. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Number of the first line, from 1. */
  readonly firstLine: number;
}

const BLOCK_BYTES = 256 * 1024;
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';

/** The file of a folder that is `NAME.ndjson` or `NAME.ndjson.gz`; undefined when there is neither. */
export function importFile(folder: string, name: string): string | undefined {
  const candidates = [`${name}.ndjson`, `${name}.ndjson.gz`].filter(
    (file) => lstatSync(join(folder, file), { throwIfNoEntry: false }) !== undefined,
  );
  if (candidates.length > 1)
    throw new UnreadableImport(candidates.join(' and '), 'are both there: keep one of them');
  return candidates[0];
}

/** An import file that cannot be read through. */
export class UnreadableImport extends Error {
  override readonly name = 'UnreadableImport';
  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`);
  }
}

/** The lines of an import file, in blocks of about a quarter of a megabyte. */
export async function* readBlocks(folder: string, file: string): AsyncGenerator<LineBlock> {
  let rest: Buffer = Buffer.alloc(0);
  let firstLine = 1;
  try {
    for await (const chunk of open(join(folder, file))) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        const block = { bytes: joined(rest, chunk.subarray(0, end)), firstLine };
        firstLine += countLines(block.bytes);
        rest = chunk.subarray(end);
        yield block;
      } else if (rest.length <= MAX_LINE_BYTES) {
        // Of a line that is too long no more is kept than shows it to be.
        rest = Buffer.concat([rest, chunk]);
      }
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UnreadableImport(file, error.message);
  }
  if (rest.length > 0) yield { bytes: joined(rest, Buffer.alloc(0)), firstLine };
}

/** Calls `visit` with every line that is not blank, and its number, or `refuse` where there is no text to be had. */
export function eachLine(
  { bytes, firstLine }: LineBlock,
  visit: (line: string, number: number) => void,
  refuse: (reason: string, number: number) => void,
): void {
  let number = firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found < 0 ? bytes.length : found;
    if (end - start > MAX_LINE_BYTES) refuse(`the line is longer than ${MAX_LINE_BYTES} bytes`, number);
    else visitText(bytes.subarray(start, end), number, visit, refuse);
    start = end + 1;
  }
}

function visitText(
  bytes: Buffer,
  number: number,
  visit: (line: string, number: number) => void,
  refuse: (reason: string, number: number) => void,
): void {
  const line = bytes.toString();
  // The replacement character is how a byte that is not UTF-8 shows; it may also stand there by itself.
  if (line.includes('\ufffd') && !isUtf8(bytes)) refuse('the line is not UTF-8', number);
  else if (line.trim() !== '')
    visit(number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line, number);
}

function open(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: BLOCK_BYTES });
  if (!path.endsWith('.gz')) return file;
  const output = new PassThrough({ highWaterMark: BLOCK_BYTES });
  // An error of either stream ends the output with it, which whoever reads the output sees.
  pipeline(file, createGunzip({ chunkSize: BLOCK_BYTES }), output).catch((error: unknown) => {
    output.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return output;
}

function joined(first: Buffer, second: Buffer): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(first.length + second.length);
  first.copy(bytes);
  second.copy(bytes, first.length);
  return bytes;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
