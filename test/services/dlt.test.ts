import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import type { ImportRecord } from '../support/import-folder.ts';
import { type Copied, describeSync } from '../support/sync-program.ts';
import { givenPython } from './python.ts';

/** Returns the value of a column: an instant for a time, and no halves of characters. */
function columnValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return name.endsWith('At') ? String(parseTimestamp(value)) : value.replace(/\p{Surrogate}/gu, '?');
}

/** Returns what a table has of a record. A field that is absent is null. */
function copied(record: ImportRecord): ImportRecord {
  const entries = Object.entries(record)
    .filter(([, value]) => value !== null)
    .map(([name, value]): [string, unknown] => [name, columnValue(name, value)]);
  return Object.fromEntries(entries.sort());
}

describe('The example of a sync with dlt', () => {
  const python = givenPython();

  describeSync({
    command: python,
    file: 'dlt/foyer_source.py',
    // A round takes three seconds.
    steps: 4,
    environment: { RUNTIME__DLTHUB_TELEMETRY: 'false', RUNTIME__LOG_LEVEL: 'INFO' },
    refused: /HTTPError: 403/,
    moments: {
      'before it normalizes': /Running file normalizing/,
      'after it has loaded a table': /Job for \S+ completed in load/,
      'after it has merged a table': /Job for \S+\.sql completed in load/,
    },
    read: (database) => {
      const reader = join(import.meta.dirname, 'read-duckdb.py');
      return JSON.parse(execFileSync(python, [reader, database], { encoding: 'utf8' })) as Copied;
    },
    copied,
  });
});
