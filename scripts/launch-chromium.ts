import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Launches the installed Chromium without a window. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = EXECUTABLES.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('Chromium is needed, such as the package `chromium` of Debian; none is installed');
  // Chromium refuses to sandbox the processes of root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
