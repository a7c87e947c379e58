import { isUtf8 } from 'node:buffer';
import { createReadStream, type ReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { MEGABYTE } from '../../../store/memory/shared-arrays.ts';
import { COLLECTIONS } from '../../format/layout.ts';
import type { JsonObject } from '../../format/json-values.ts';
import { type FieldProblem, parseLine, shown, similarName, UTF_16 } from './problems.ts';

/** The files of an import folder: one JSON object per line, in UTF-8, optionally compressed (`.ndjson.gz`). */

export const ORGANIZATIONS_FILE = 'organizations';
/** Names the records to remove from a base. */
export const DELETIONS_FILE = 'deletions';
export const IMPORT_FILES: readonly string[] = [
  ORGANIZATIONS_FILE,
  ...COLLECTIONS.map(({ name }) => name),
  DELETIONS_FILE,
];

/** An import file cannot be read to its end. */
export class UnreadableImport extends Error {
  override readonly name = 'UnreadableImport';
  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`);
  }
}

export type ImportFolder = Readonly<ReturnType<typeof listImport>>;

const DATA_ENDINGS =
  /(?:\.(?:ndjson|jsonl?|ldjson|csv|tsv|txt|xlsx?|parquet|gz|gzip|zip|bz2|xz|zst|7z)){1,3}$/i;
/** The names of files that may have lines of JSON. */
const LINES_OF_JSON = /^[^.]*(?:\.(?:ndjson|jsonl?|ldjson|txt))?(?:\.gz)?$/i;

/**
 * Finds the import files of a folder, and the entries that resemble them.
 * @throws UnreadableImport when a file exists twice, or is not a regular file
 */
export function listImport(path: string) {
  const entries = readdirSync(path).sort();
  const isFile = (entry: string) => statSync(join(path, entry), { throwIfNoEntry: false })?.isFile() === true;
  /** Import files by name without ending. A misnamed entry stands for the file that was probably meant. */
  const files = new Map<string, string>();
  for (const name of IMPORT_FILES) {
    const named = entries.filter((entry) => entry === `${name}.ndjson` || entry === `${name}.ndjson.gz`);
    if (named.length > 1) throw new UnreadableImport(named.join(' and '), 'both exist; keep one of them');
    if (named.length === 0) continue;
    // To open a pipe would wait for a writer, without a response to signals.
    if (!isFile(named[0])) throw new UnreadableImport(named[0], 'not a regular file');
    files.set(name, named[0]);
  }
  const named = new Set(files.values());
  /** Advice for each entry that is misnamed. */
  const misnamed: string[] = [];
  /** Names of the files of which a misnamed entry may have lines that are not read. */
  const incomplete = new Set<string>();
  /** Entries that are not read and not misnamed. Hidden ones are ignored. */
  const unread: string[] = [];
  for (const entry of entries) {
    if (entry.startsWith('.') || named.has(entry)) continue;
    const base = entry.replace(DATA_ENDINGS, '');
    const meant = base.includes('.') && base === entry ? undefined : similarName(base, IMPORT_FILES);
    if (meant === undefined) {
      unread.push(entry);
      continue;
    }
    misnamed.push(
      `${entry}: not an import file; did you mean ${meant}.ndjson or ${meant}.ndjson.gz, with one JSON object on each line?`,
    );
    const hasLines = LINES_OF_JSON.test(entry) && isFile(entry);
    if (hasLines && !files.has(meant)) files.set(meant, entry);
    else incomplete.add(meant);
  }
  return { path, files, misnamed, incomplete, unread };
}

const BLOCK_BYTES = 256 * 1024;
const MAX_LINE_BYTES = 16 * MEGABYTE;
const TOO_LONG = `must be at most ${MAX_LINE_BYTES} bytes long`;
const NOT_UTF8 = 'must be UTF-8';
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const GZIP = 'it is compressed by gzip: its name must end in .ndjson.gz';
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';

/** Consecutive complete lines of an import file. */
export interface LineBlock {
  readonly bytes: Buffer;
  readonly firstLine: number;
}

/**
 * Reads the lines of an import file in blocks of about `BLOCK_BYTES`.
 * @param onBytes receives the number of further bytes of the file, compressed or not, that were read
 */
export async function* readBlocks(
  { path }: ImportFolder,
  file: string,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<LineBlock> {
  const source = createReadStream(join(path, file), { highWaterMark: BLOCK_BYTES });
  let bytesRead = 0;
  const isCompressed = /\.gz$/i.test(file);
  const chunks: AsyncIterable<Buffer> = isCompressed ? gunzipped(source) : source;
  /** The beginning of a line. */
  let rest: Buffer = Buffer.alloc(0);
  let firstLine = 1;
  try {
    for await (const chunk of chunks) {
      if (bytesRead === 0 && !isCompressed && chunk.subarray(0, 2).equals(GZIP_MAGIC)) throw new Error(GZIP);
      onBytes?.(source.bytesRead - bytesRead);
      bytesRead = source.bytesRead;
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        const bytes = Buffer.concat([rest, chunk.subarray(0, end)]);
        yield { bytes, firstLine };
        firstLine += countLines(bytes);
        rest = chunk.subarray(end);
      } else if (rest.length <= MAX_LINE_BYTES) {
        // The rest of an overlong line is skipped: its first bytes suffice to reject it.
        rest = Buffer.concat([rest, chunk]);
      }
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UnreadableImport(file, error.message);
  }
  if (rest.length > 0) yield { bytes: rest, firstLine };
}

/** Decompresses all members of a gzip file. */
async function* gunzipped(source: ReadStream): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: BLOCK_BYTES });
  // The reader of the content gets the error of either stream.
  yield* pipeline(source, gunzip, () => undefined);
  // Node ends at zeros behind a member, as if no other followed.
  const { size } = statSync(source.path);
  if (gunzip.bytesWritten < size)
    throw new Error(`its gzip data ends at byte ${gunzip.bytesWritten} of ${size}: compress it again`);
}

/** A line with its number in the file: an object, or one with a problem. Undecodable lines have no text. */
export type Line =
  | { readonly number: number; readonly text: string; readonly record: JsonObject }
  | {
      readonly number: number;
      readonly text?: string;
      readonly record?: never;
      readonly problem: FieldProblem;
    };

/** Iterates over the lines of a block that are not blank. */
export function* linesOf({ bytes, firstLine }: LineBlock): Generator<Line> {
  let number = firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found < 0 ? bytes.length : found;
    const line = readLine(bytes.subarray(start, end), number);
    if (line.text?.trim() !== '') yield line;
    start = end + 1;
  }
}

function readLine(bytes: Buffer, number: number): Line {
  if (bytes.length > MAX_LINE_BYTES) return { number, problem: { field: '', reason: TOO_LONG } };
  let text = bytes.toString();
  // Decoding replaces invalid bytes with U+FFFD, which a valid line may also contain.
  if (text.includes('\ufffd') && !isUtf8(bytes)) {
    const reason = bytes.includes(0) ? UTF_16 : NOT_UTF8;
    return { number, problem: { field: '', reason, found: shown(text) } };
  }
  if (number === 1 && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
  return { number, text, ...parseLine(text) };
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
