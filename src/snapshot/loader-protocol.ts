import type { OrganizationImage } from '../store/organization-image.ts';
import type { HandoverEnd } from './handover.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import type { Part, PartImage } from './read-organization.ts';
import type { RefusalReason } from './refused-snapshot.ts';

/** What the loader, one thread or two, and whoever started it say to each other. */

export interface LoaderOrder {
  readonly path: string;
  /** Whether it is to tell how far it is. */
  readonly isToTellProgress: boolean;
  /** One element: UNDECIDED until it is known whether, and by how many threads, the content is to be read. */
  readonly decision: Int32Array<SharedArrayBuffer>;
  /** Of the organizations that two threads share, the parts that this one reads. */
  readonly parts: readonly Part[];
  /** Where it gives the records of their tickets to the other thread, if it reads these … */
  readonly giver?: HandoverEnd;
  /** … or takes them from the other, to digest them when it has read its parts. */
  readonly taker?: HandoverEnd;
  /** Whether it reads the organizations that are not shared. */
  readonly readsOthers: boolean;
  /** From how many bytes of records on two threads share an organization. */
  readonly leastShared: number;
}

export const UNDECIDED = 0;
export const READ_ALONE = 1;
export const READ_TOGETHER = 2;
export const GIVE_UP = 3;

export type LoaderMessage =
  /** The loader then waits for the decision. */
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /**
   * One of the organizations that were declared, in their order. Each is a message of its own: to receive thousands of
   * buffers at once takes a time that grows with the square of their number.
   */
  | { readonly organization: OrganizationImage }
  /** Of one that two threads share; it counts when it is joined with the other parts. */
  | { readonly organizationId: string; readonly part: PartImage }
  /** All that this thread reads was told. */
  | { readonly isComplete: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };
