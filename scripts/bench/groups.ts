import { measureLatency } from './groups/latency.ts';
import { measureLoad } from './groups/load.ts';
import { measureRefresh } from './groups/refresh.ts';
import { measureRequests } from './groups/requests.ts';
import { type KindFigure, measureScale } from './groups/scale.ts';
import { measureStart } from './groups/start.ts';
import { measureThreads } from './groups/threads.ts';
import type { Row } from './row.ts';
import type { Stage } from './stage.ts';

/** What a group measured. */
export interface Figures {
  readonly rows: readonly Row[];
  /** Behind one row there may be many kinds of query. */
  readonly kinds?: readonly KindFigure[];
}

/** The figures that may be taken apart from the others, in the order in which they are taken. */
export const GROUPS = {
  requests: group('requests a second, against a bare server and the usual way', measureRequests),
  latency: group('how long requests take under load, against a bare server', measureLatency),
  threads: group('what a second thread brings, and what memory each takes', measureThreads),
  scale: {
    description: 'the time of each kind of query at a large and at a small size',
    measure: (stage: Stage): Promise<Figures> => measureScale(stage),
  },
  load: group('the load of a large snapshot, and the memory that it takes', measureLoad),
  start: group('the start of the demo', measureStart),
  refresh: group('requests, event loop and memory while snapshots go live', measureRefresh),
};

export type Group = keyof typeof GROUPS;

function group(description: string, rowsOf: (stage: Stage) => Promise<Row[]>) {
  return { description, measure: async (stage: Stage): Promise<Figures> => ({ rows: await rowsOf(stage) }) };
}
