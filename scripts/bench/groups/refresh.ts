import type { Row } from '../row.ts';
import { inProportion, type Stage } from '../stage.ts';
import { refreshMemory } from './refresh-memory.ts';
import { refreshUnderLoad } from './refresh-under-load.ts';

/** Requests, event loop and memory while snapshots go live. */
export async function measureRefresh(stage: Stage): Promise<Row[]> {
  const shape = inProportion(stage.sizes.tickets);
  const first = await stage.snapshot(shape);
  const files = stage.files(first, await stage.snapshot({ ...shape, isOther: true }));
  return [...(await refreshUnderLoad(stage, files)), await refreshMemory(stage, files)];
}
