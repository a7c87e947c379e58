import { loadSnapshot } from '../../src/snapshot/load/load-snapshot.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';

/**
 * A process that loads a snapshot, and prints its maximum growth in bytes and the outcome. The load runs on a thread of
 * its own.
 */

const [path] = process.argv.slice(2);
const before = process.memoryUsage.rss();
let peak = before;
// The system's own high-water mark, process.resourceUsage(), starts with that of the parent process.
const sample = () => (peak = Math.max(peak, process.memoryUsage.rss()));
setInterval(sample, 1).unref();
let outcome = 'live';
try {
  await loadSnapshot(path);
} catch (error) {
  if (!(error instanceof RefusedSnapshot)) throw error;
  outcome = error.reason;
}
sample();
process.stdout.write(`${peak - before} ${outcome}`);
