import { describeSync } from './sync-program.ts';

describe('The example of a sync with the TypeScript client', () => {
  describeSync({
    command: process.execPath,
    file: 'sync.ts',
    selectTime: "SELECT value ->> 'dataAsOf' FROM state",
  });
});
