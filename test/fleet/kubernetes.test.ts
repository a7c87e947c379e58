import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';

const TOOLS = [
  'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0',
  'github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
  'sigs.k8s.io/kustomize/kustomize/v5@v5.8.1',
];
const BIN = join(ROOT, 'node_modules/.cache/fleet/bin');
/** Of Kubernetes 1.33, from the package kubernetes-validate of PyPI. They permit no field that is not declared. */
const SCHEMAS = join(import.meta.dirname, 'schemas/{{.ResourceKind}}{{.KindSuffix}}.json');

describe('The resources of deploy/kubernetes', () => {
  needs('Go 1.25');
  let resources: string;

  before(function () {
    this.timeout(900_000);
    const env = { ...process.env, GOBIN: BIN, GOTOOLCHAIN: 'local' };
    for (const tool of TOOLS) execFileSync('go', ['install', tool], { env, stdio: 'inherit' });
    resources = linesOf('kustomize', ['build', join(ROOT, 'deploy/kubernetes')]).join('\n');
  });

  const linesOf = (tool: string, args: readonly string[], input = '') =>
    spawnSync(join(BIN, tool), args, { input, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const validate = (input: string) =>
    linesOf('kubeconform', ['-strict', '-verbose', '-schema-location', SCHEMAS], input).sort();

  it('are valid by kubeconform', () => {
    const kinds = ['ConfigMap', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'StatefulSet'];
    const valid = kinds.map((kind) => `stdin - ${kind} foyer[-0-9a-z]* is valid`);
    expect(validate(resources).join('\n')).to.match(new RegExp(`^${valid.join('\n')}$`));
  });

  it('would be refused by it with a misspelt field', () => {
    const [line] = validate(resources.replace('readinessProbe:', 'readinesProbe:')).slice(-1);
    expect(line).to.match(/StatefulSet foyer is invalid: .*'readinesProbe' not allowed/);
  });

  it('have no critical finding of kube-score', () => {
    const findings = linesOf('kube-score', ['score', '--output-format', 'ci', '-'], resources);
    expect(findings).to.include('[OK] foyer apps/v1/StatefulSet');
    expect(findings.filter((line) => line.startsWith('[CRITICAL]'))).to.deep.equal([]);
  });

  it('give a process the time to drain', () => {
    const numberOf = (pattern: RegExp) => Number(pattern.exec(resources)?.[1]);
    const drain = numberOf(/SHUTDOWN_DELAY_SECONDS: "(\d+)"/) + numberOf(/SHUTDOWN_GRACE_SECONDS: "(\d+)"/);
    expect(numberOf(/terminationGracePeriodSeconds: (\d+)/)).to.be.at.least(drain + 5);
  });
});
