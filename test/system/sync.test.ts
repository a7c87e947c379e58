import { describeSync, sqliteReader } from '../support/sync-program.ts';

describe('The example of a sync with the TypeScript client', () => {
  describeSync({
    command: process.execPath,
    file: 'sync/sync.ts',
    // The Python program follows more.
    steps: 7,
    refused: /^not copied: .*403/,
    read: sqliteReader("SELECT value ->> 'dataAsOf' FROM state"),
  });
});
