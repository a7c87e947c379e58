import { loadSnapshot } from '../../../src/snapshot/load/load-snapshot.ts';

/** A process that loads a snapshot, and prints by how many bytes it grew at most. The loader is a thread of its own. */

const [path] = process.argv.slice(2);
const before = process.memoryUsage.rss();
let most = before;
// The high-water mark of the system, process.resourceUsage(), begins with that of the parent process.
const look = () => (most = Math.max(most, process.memoryUsage.rss()));
setInterval(look, 1).unref();
await loadSnapshot(path);
look();
process.stdout.write(String(most - before));
