import { join } from 'node:path';
import { contentOf, type Present } from '../format/replace-file.ts';
import { inTurns, makeWhole } from '../write/make-whole.ts';
import { type BuildOptions, KEEP_CHANGES_DAYS } from './build-options.ts';
import { EarlierSnapshot } from './staging/earlier-snapshot.ts';

/** Opens the snapshot that the build follows: the pair of files if their changes are continued, else one whole file. */
export async function openEarlier(options: BuildOptions, folder: string, former: Present) {
  const { base, previous, producedAt, signal } = options;
  const path = base ?? previous;
  const withEnd = (earlier?: EarlierSnapshot, isContinued = false) => ({
    earlier,
    isContinued,
    [Symbol.dispose]: () => earlier?.[Symbol.dispose](),
  });
  if (path === undefined) return withEnd();
  using files = new DisposableStack();
  const pair = files.use(new EarlierSnapshot(path, producedAt, base !== undefined));
  const isContinued = canContinue(options, former, pair);
  if (isContinued || pair.snapshot.changes === undefined) {
    files.move();
    return withEnd(pair, isContinued);
  }
  const whole = join(folder, 'earlier.sqlite');
  await inTurns(makeWhole(pair.snapshot, whole), signal);
  return withEnd(new EarlierSnapshot(whole, producedAt, base !== undefined, path));
}

/**
 * Returns whether a build adds to the changes of what is published: it follows on that, and the history has what lies
 * between that and its whole file.
 */
function canContinue(options: BuildOptions, former: Present, earlier: EarlierSnapshot): boolean {
  const { permits, base, isStrict = false } = options;
  const { manifest, snapshot } = earlier;
  const isPublished = permits !== undefined && base !== undefined && former.content === contentOf(manifest);
  // A strict build reviews one file.
  if (!isPublished || isStrict) return false;
  return ancestorsOf(options, earlier).some((one) => one.snapshotId === snapshot.whole.manifest.snapshotId);
}

/** Returns the snapshots from which the new one descends, earliest first. */
export function ancestorsOf(
  { producedAt, keepChangesMs }: BuildOptions,
  earlier: EarlierSnapshot | undefined,
) {
  const kept = keepChangesMs ?? KEEP_CHANGES_DAYS * 86_400_000;
  return earlier?.lineage(producedAt.getTime() - kept) ?? [];
}
