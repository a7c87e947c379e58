import { expect } from 'chai';
import { readConfig } from '../src/config.ts';
import { portInUse } from '../src/replica.ts';

describe('A port that is in use', () => {
  const error = (port?: number) =>
    Object.assign(new Error('listen EADDRINUSE'), {
      code: 'EADDRINUSE',
      syscall: 'listen',
      ...(port && { port }),
    });
  const messageFor = (environment: Record<string, string>, port?: number) =>
    portInUse(error(port), readConfig(environment), 'npm start')?.message;

  it('is named, with a command line that selects free ports', () => {
    expect(messageFor({})).to.equal('port 3000 is in use; try: PORT=3010 ADMIN_PORT=3011 npm start');
    expect(messageFor({ PORT: '80' }, 3001)).to.equal(
      'port 3001 is in use; try: PORT=90 ADMIN_PORT=3011 npm start',
    );
  });

  it('leaves a free port to the system, and suggests existing ports only', () => {
    expect(messageFor({ PORT: '65535', ADMIN_PORT: '0' })).to.equal(
      'port 65535 is in use; try: PORT=65525 npm start',
    );
  });
});
