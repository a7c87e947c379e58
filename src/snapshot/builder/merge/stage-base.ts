import { type CollectionLayout, EVENTS } from '../../format/layout.ts';
import { duplicateId } from '../../load/run-reader.ts';
import { LINKED, type Staging, withoutSummary } from '../staging/staging.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';

/**
 * Stages the events or sessions of a base that the import does not name. Those of other collections are merged.
 * @param organizationIds in the order of the positions
 * @throws RefusedSnapshot
 */
export function stageBase(
  base: EarlierSnapshot,
  layout: CollectionLayout,
  organizationIds: readonly string[],
  { ids, tables }: Staging,
): void {
  if (!LINKED.includes(layout)) return;
  let line = 0;
  for (const run of base.runs(layout, organizationIds)) {
    const { organization } = run;
    for (let row = 0; row < run.count; row++) {
      line++;
      const { instant, id } = run.placeAt(row);
      if (!ids.addOfBase(layout.name, organization, id, line, instant)) {
        if (ids.get(layout.name, organization, id) === 'base') throw duplicateId(layout, id);
        continue;
      }
      const json = layout === EVENTS ? withoutSummary(run.jsonAt(row)) : run.jsonAt(row);
      const [beginsRun, values] = [run.beginsRun(row), run.valuesAt(row)];
      tables.add(layout, 'base', line, { organization, instant, id, beginsRun, values, json });
    }
  }
}
