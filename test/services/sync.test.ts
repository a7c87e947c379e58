import { describeSync } from '../system/sync-program.ts';
import { givenPython, PYTHON } from './python.ts';

describe('The example of a sync in Python', () => {
  givenPython();
  describeSync({
    command: PYTHON,
    file: 'sync.py',
    selectTime: "SELECT value FROM state WHERE name = 'asOf'",
  });
});
