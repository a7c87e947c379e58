import { describeSync, sqliteReader } from '../support/sync-program.ts';
import { givenPython } from './python.ts';

describe('The example of a sync in Python', () => {
  const python = givenPython();
  describeSync({
    command: python,
    file: 'sync/sync.py',
    refused: /^not copied: .*403/,
    read: sqliteReader("SELECT value FROM state WHERE name = 'asOf'"),
  });
});
