import { describeSync } from './sync-program.ts';

describe('The example of a sync with the TypeScript client', () => {
  describeSync({
    command: process.execPath,
    file: 'sync.ts',
    selectSnapshotId: "SELECT value ->> 'snapshotId' FROM state",
    setTime: "UPDATE state SET value = json_set(value, '$.dataAsOf', 'TIME')",
  });
});
