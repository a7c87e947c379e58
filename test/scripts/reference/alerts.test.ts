import { expect } from 'chai';
import { ALERTS, PULL_ALERTS, PULL_METRICS } from '../../../scripts/reference/alerts.ts';
import { METRICS, metricsText } from '../../../src/admin/prometheus.ts';
import { emptyOperations } from '../../support/admin-operations.ts';

/** Returns whether a sample has the labels of a selector. Prometheus adds `job` and `instance`. */
function hasLabels(sample: string, selector: string): boolean {
  return Array.from(selector.matchAll(/(\w+)=(~?)"(.*?)"/g)).every(([, label, isPattern, value]) => {
    const [, actual = ''] = new RegExp(`[{,]${label}="(.*?)"`).exec(sample) ?? [];
    return (
      ['job', 'instance'].includes(label) ||
      (isPattern ? new RegExp(`^(${value})$`).test(actual) : actual === value)
    );
  });
}

describe('An alert', () => {
  let samples: string[];

  before(async () => {
    samples = (await metricsText(emptyOperations())).split('\n');
  });

  for (const [name, { expr, runbook }] of Object.entries({ ...ALERTS, ...PULL_ALERTS })) {
    it(`reads series of files, of the pull, or that exist from the start, and has a remedy: ${name}`, () => {
      for (const [selected, metric, selector = ''] of expr.matchAll(/\b(foyer_\w+)(?:\{(.*?)\})?/g)) {
        if (metric in PULL_METRICS || (metric in METRICS && METRICS[metric].labels.includes('file')))
          continue;
        const found = samples.some((line) => /^\w+/.exec(line)?.[0] === metric && hasLabels(line, selector));
        expect(found, selected).to.equal(true);
      }
      expect(runbook).to.match(/^[A-Z].*?\. [A-Z`].*\.$/);
    });
  }
});
