import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Config, readConfig } from '../src/config.ts';
import { formatCredential } from '../src/keys/credential.ts';
import { KeysFile } from '../src/keys/keys-file.ts';
import { ProcessLog } from '../src/log/process-log.ts';
import { startReplica } from '../src/replica.ts';
import { inspectSnapshot } from '../src/snapshot/format/open-snapshot.ts';
import { launchChromium } from './launch-chromium.ts';
import { makeDemoSnapshot } from './demo/make-demo-snapshot.ts';
import { commandLine, runCommand } from './run-command.ts';

const VIEWPORT = { width: 1280, height: 800 };
/** The README shows the images of the reader's scheme. */
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];
/** Traffic that gives the charts of the status page some points. */
const TRAFFIC_SECONDS = 120;

const program = commandLine(
  'screenshots',
  'Makes the screenshots of the README from sample data on free ports. Needs Chromium.',
)
  .option('--output <folder>', 'folder of the images', 'docs/images')
  .action(makeScreenshots);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function makeScreenshots(options: { output: string }): Promise<void> {
  const output = resolve(options.output);
  mkdirSync(output, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'foyer-screenshots-'));
  // The status page shows the default paths.
  process.chdir(folder);
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    EXPLORER: 'on',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
  });
  const credential = await makeData(config);
  const log = new ProcessLog(config.logLevel);
  const replica = await startReplica(config, log);
  try {
    await replica.poll();
    const api = `http://${config.host}:${replica.port}`;
    const pages = { api, status: `http://${config.adminHost}:${replica.adminPort}/`, credential, output };
    await sendTraffic(api, credential);
    const browser = await launchChromium();
    try {
      for (const scheme of SCHEMES) await photograph(browser, scheme, pages);
    } finally {
      await browser.close();
    }
  } finally {
    await replica.stop(0, 0);
    await log.end();
    rmSync(folder, { recursive: true });
  }
}

/** Creates the data of the demo, and returns the credential of its first organization. */
async function makeData({ snapshotDir, keysFile }: Config): Promise<string> {
  const snapshot = join(snapshotDir, 'demo.sqlite');
  await makeDemoSnapshot(snapshot);
  const [{ organizationId }] = inspectSnapshot(snapshot).organizations;
  return formatCredential(new KeysFile(keysFile).create(organizationId, 'screenshots', new Date()));
}

/** Sends requests at a rate that rises and falls. */
async function sendTraffic(api: string, credential: string): Promise<void> {
  const headers = { Authorization: `Bearer ${credential}` };
  const targets = ['/v1/events', '/v1/tickets', '/v1/orders?status=PENDING', '/v1/tickets?page=7'];
  const start = performance.now();
  for (let i = 0, seconds = 0; seconds < TRAFFIC_SECONDS; i++) {
    const target = i % 50 === 0 ? '/v1/tickets/none' : targets[i % targets.length];
    const response = await fetch(api + target, { headers });
    await response.arrayBuffer();
    seconds = (performance.now() - start) / 1000;
    await setTimeout(15 + 10 * Math.sin(seconds / 12));
  }
}

interface Pages {
  /** Base URL of the API. */
  readonly api: string;
  /** URL of the status page. */
  readonly status: string;
  readonly credential: string;
  /** Folder of the images. */
  readonly output: string;
}

async function photograph(browser: Browser, colorScheme: Scheme, pages: Pages): Promise<void> {
  const { api, status, credential, output } = pages;
  const take = async (name: string, url: string, prepare: (page: Page) => Promise<void>): Promise<void> => {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' });
    await page.goto(url);
    await prepare(page);
    const path = join(output, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`);
    await page.screenshot({ path });
    console.log(`${path}: ${Math.ceil(statSync(path).size / 1000)} kB`);
    await page.close();
  };
  await take('explorer', `${api}/explorer#key=${credential}`, async (page) => {
    await page.locator('.card').first().waitFor();
    await page.goto(`${api}/explorer${await busiestEvent(api, credential)}`);
    await page.locator('time-chart canvas').waitFor();
    await page.locator('main:not(:has(.skeleton, .walk))').waitFor();
  });
  await take('docs', `${api}/docs`, async (page) => {
    await page.locator('.opblock').first().waitFor();
  });
  await take('status', status, async (page) => {
    await page.locator('canvas').first().waitFor();
  });
}

/** Returns the place of the event with the most sessions. */
async function busiestEvent(api: string, credential: string): Promise<string> {
  const response = await fetch(`${api}/v1/events`, { headers: { Authorization: `Bearer ${credential}` } });
  const { items } = (await response.json()) as { items: { id: string; sessionCount: number }[] };
  const [{ id }] = items.sort((a, b) => b.sessionCount - a.sessionCount);
  return `#/events/${id}`;
}
