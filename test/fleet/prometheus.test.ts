import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ALERTS, PULL_ALERTS, PULL_METRICS } from '../../scripts/reference/alerts.ts';
import { METRICS } from '../../src/admin/prometheus.ts';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const RULES = readFileSync('deploy/prometheus/rules.yml', 'utf8');
const PULL_RULES = readFileSync('deploy/prometheus/pull.rules.yml', 'utf8');
const CASES = readFileSync('deploy/prometheus/rules.test.yml', 'utf8');
const DASHBOARD = readFileSync('deploy/prometheus/dashboard.json', 'utf8');

describe('The rules and the dashboard for Prometheus', () => {
  needs('promtool');
  const inFolder = folderForAll();
  /** The lines of a live replica. */
  let exposition: string[];

  before(async () => {
    await placeSample(inFolder);
    await using replica = await ReplicaUnderTest.startReady(inFolder);
    exposition = (await replica.requestAdmin('/metrics')).text.split('\n');
  });

  /** Runs promtool on files, the last of which is checked. YAML contains JSON. Returns its status and output. */
  function promtool(command: readonly string[], files: Readonly<Record<string, string | object>>) {
    for (const [name, content] of Object.entries(files))
      writeFileSync(inFolder(name), typeof content === 'string' ? content : JSON.stringify(content));
    const path = inFolder(Object.keys(files).at(-1) ?? '');
    const { status, stdout, stderr } = spawnSync('promtool', [...command, path], { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  /** Runs the cases on altered rules. Returns the alerts that they expect, and those that fire, with their labels. */
  function runCases(alteredExpr: (expr: string) => string) {
    const [rules, pullRules] = [RULES, PULL_RULES].map((text) =>
      text.replace(/(?<=^ +expr: ').*(?='$)/gm, alteredExpr),
    );
    const files = { 'rules.yml': rules, 'pull.rules.yml': pullRules, 'rules.test.yml': CASES };
    const { status, output } = promtool(['test', 'rules'], files);
    const lists = (word: string) =>
      Array.from(output.matchAll(new RegExp(`${word}: (.*)`, 'g')), ([, list]) => list);
    return { status, output, expected: lists('exp').join(), fired: lists('got').join() };
  }

  it('have the alerts that are declared, and fire as their cases say', () => {
    const namesIn = (rules: string) => Array.from(rules.matchAll(/alert: (\w+)/g), ([, name]) => name);
    expect(namesIn(RULES)).to.deep.equal(Object.keys(ALERTS));
    expect(namesIn(PULL_RULES)).to.deep.equal(Object.keys(PULL_ALERTS));
    const { status, output } = runCases((expr) => expr);
    expect(status, output).to.equal(0);
  });

  describe('have a case in which an alert fires, and one in which it is silent:', () => {
    let never: ReturnType<typeof runCases>;
    let always: ReturnType<typeof runCases>;

    before(() => {
      never = runCases(() => 'vector(0) == 1');
      always = runCases((expr) => `${expr} or up{instance="sound"} == 1`);
    });

    for (const name of Object.keys({ ...ALERTS, ...PULL_ALERTS })) {
      it(name, () => {
        expect(never.expected).to.include(`{alertname="${name}"`);
        expect(never.fired).not.to.include(name);
        const ofSound = `{alertname="${name}", instance="sound"`;
        expect(always.fired).to.include(ofSound);
        expect(always.expected).not.to.include(ofSound);
      });
    }
  });

  it('name each declared metric in the dashboard, and no others than a replica or the pull has', () => {
    const shown = DASHBOARD.match(/\bfoyer_\w+/g)?.map((name) => name.replace(/_bucket$/, ''));
    expect(shown).to.include.members(Object.keys({ ...METRICS, ...PULL_METRICS }));
    const families = new Set(exposition.flatMap((line) => /^# TYPE (\w+)/.exec(line)?.[1] ?? []));
    expect(families).to.include('foyer_build_info');
    const names = `${RULES}${PULL_RULES}${DASHBOARD}`.match(/\b(foyer|process|nodejs)_\w+/g) ?? [];
    const unknown = new Set(names.map((name) => name.replace(/_bucket$/, ''))).difference(families);
    expect([...unknown].sort()).to.deep.equal(Object.keys(PULL_METRICS).sort());
  });

  it('fire when a replica lacks any metric of the rules, and not when it has all', () => {
    const present = new Set(exposition.flatMap((line) => /^(\w+)[ {]/.exec(line)?.[1] ?? []));
    const [, list = ''] = /__name__=~"([^"]*)"/.exec(RULES) ?? [];
    const needed = list.split('|');
    const always = Object.entries(METRICS).filter(([, { labels }]) => !labels.includes('file'));
    for (const [name] of always) expect(list).to.match(new RegExp(`\\b${name}(_bucket)?\\b`));
    const seriesOf = (names: Iterable<string>) =>
      Array.from(names, (name) => ({ series: `${name}{job="foyer",instance="live"}`, values: '1x10' }));
    const tests = ['none', ...needed].map((absent) => ({
      name: `without ${absent}`,
      interval: '1m',
      input_series: seriesOf(['up', ...present.difference(new Set([absent]))]),
      promql_expr_test: [
        {
          expr: 'count(ALERTS{alertname="FoyerMetricsAbsent",alertstate="firing"})',
          eval_time: '10m',
          exp_samples: absent === 'none' ? [] : [{ labels: '{}', value: 1 }],
        },
      ],
    }));
    const file = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests };
    const { status, output } = promtool(['test', 'rules'], { 'rules.yml': RULES, 'absent.yml': file });
    expect(status, output).to.equal(0);
  });

  it('have valid queries', () => {
    const queries = Array.from(DASHBOARD.matchAll(/"expr":("(?:[^"\\]|\\.)*")/g), ([, query]) =>
      String(JSON.parse(query)),
    );
    expect(queries.length).to.be.above(30);
    const rules = queries.map((query, i) => ({
      record: `panel_${i}`,
      expr: query.replaceAll('$__rate_interval', '5m'),
    }));
    const file = { groups: [{ name: 'dashboard', rules }] };
    const { status, output } = promtool(['check', 'rules'], { 'dashboard.yml': file });
    expect(status, output).to.equal(0);
  });

  it('link to the runbook of each alert', () => {
    const pattern = /alert: (\w+)$.*?runbook: (\S+)#alerts$/gms;
    const links = Array.from(`${RULES}${PULL_RULES}`.matchAll(pattern), ([, ...link]) => link);
    expect(links).to.have.length(Object.keys({ ...ALERTS, ...PULL_ALERTS }).length);
    for (const [name = '', path = ''] of links)
      expect(readFileSync(path, 'utf8')).to.match(new RegExp(`^## Alerts$.*^\\| ${name} \\|`, 'ms'));
  });

  it('are loaded, and read a replica, by the configuration in docs/howto/prometheus-and-grafana.md', async () => {
    await using replica = await ReplicaUnderTest.startReady(inFolder);
    const page = readFileSync('docs/howto/prometheus-and-grafana.md', 'utf8');
    const [, block = ''] = /^ *```yaml\n(.*?)^ *```$/ms.exec(page) ?? [];
    const configuration = block
      .replace(/^ {3}/gm, '')
      .replace('/opt/foyer/', `${ROOT}/`)
      .replace('127.0.0.1:3001', `127.0.0.1:${replica.adminPort}`);
    writeFileSync(
      inFolder('prometheus.yml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }\n${configuration}`,
    );
    const origin = `http://127.0.0.1:${await freePort()}`;
    const args = [
      `--config.file=${inFolder('prometheus.yml')}`,
      `--storage.tsdb.path=${inFolder('tsdb')}`,
      `--web.listen-address=${new URL(origin).host}`,
    ];
    const prometheus = spawn('prometheus', args, { stdio: 'ignore' });
    try {
      const isReady = async () => {
        const query = encodeURIComponent('foyer_ready{job="foyer"} == 1');
        const response = await fetch(`${origin}/api/v1/query?query=${query}`).catch(() => undefined);
        return response?.ok === true && (await response.text()).includes('"foyer_ready"');
      };
      await eventually(isReady, 100);
      const rules = await (await fetch(`${origin}/api/v1/rules`)).text();
      for (const name of Object.keys(ALERTS)) expect(rules).to.include(`"${name}"`);
    } finally {
      prometheus.kill();
      await once(prometheus, 'close');
    }
  });

  it('are silent on one sound machine that does not pull', () => {
    const series = exposition.flatMap((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return name
        ? [{ series: `${name}{job="foyer",instance="live",${labels}}`, values: `${value}x60` }]
        : [];
    });
    const input_series = [{ series: 'up{job="foyer",instance="live"}', values: '1x60' }, ...series];
    const expr = 'count by (alertname) (ALERTS)';
    const tests = [
      { interval: '1m', input_series, promql_expr_test: [{ expr, eval_time: '1h', exp_samples: [] }] },
    ];
    const file = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests };
    const { status, output } = promtool(['test', 'rules'], { 'rules.yml': RULES, 'silent.yml': file });
    expect(status, output).to.equal(0);
  });
});
