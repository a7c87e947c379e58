import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ALERTS } from '../../src/admin/alerts.ts';
import { METRICS, PULL_METRICS } from '../../src/admin/prometheus.ts';
import { needs } from '../support/components.ts';
import { placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const RULES = readFileSync('deploy/prometheus/rules.yml', 'utf8');
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
    const rules = RULES.replace(/(?<=^ +expr: ').*(?='$)/gm, alteredExpr);
    const { status, output } = promtool(['test', 'rules'], { 'rules.yml': rules, 'rules.test.yml': CASES });
    const lists = (word: string) =>
      Array.from(output.matchAll(new RegExp(`${word}: (.*)`, 'g')), ([, list]) => list);
    return { status, output, expected: lists('exp').join(), fired: lists('got').join() };
  }

  it('have the alerts that are declared, and fire as their cases say', () => {
    const names = Array.from(RULES.matchAll(/alert: (\w+)/g), ([, name]) => name);
    expect(names.sort()).to.deep.equal(Object.keys(ALERTS).sort());
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

    for (const name of Object.keys(ALERTS)) {
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
    const names = `${RULES}${DASHBOARD}`.match(/\b(foyer|process|nodejs)_\w+/g) ?? [];
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
    const links = Array.from(RULES.matchAll(/runbook: (.*)#(\w+)$/gm), ([, ...link]) => link);
    expect(links).to.have.length(Object.keys(ALERTS).length);
    for (const [path, anchor] of links)
      expect(readFileSync(path, 'utf8').toLowerCase()).to.include(`\n#### ${anchor}\n`);
  });
});
