import { expect } from 'chai';
import { run } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';

const SECONDS = byDepth({ short: 10, deep: 60 });

describe('A soak', function () {
  this.timeout(SECONDS * 1000 + 120_000);

  it(`of ${SECONDS} s breaks no promise`, async () => {
    const { code, stdout, stderr } = await run('test/soak/soak.ts', ['--seconds', String(SECONDS)]);
    expect(stderr).to.match(/^(?:0 faults, [\d,]+ requests, \d+ MB \(\d+ %\)\n)*$/);
    expect(code).to.equal(0);
    for (const what of [
      'walks',
      'swaps',
      'refused snapshots',
      'keys created and revoked',
      'ended workers',
      'attacks',
    ]) {
      expect(Number(new RegExp(`^${what} +(\\d+)$`, 'm').exec(stdout)?.[1]), what).to.be.at.least(1);
    }
  });
});
