import type { OrganizationImage } from '../store/organization-image.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import type { RefusalReason } from './refused-snapshot.ts';

/** What the loader, a thread, and whoever started it say to each other. */

export interface LoaderOrder {
  readonly path: string;
  /** Whether it is to tell how far it is. */
  readonly isToTellProgress: boolean;
  /** One element: UNDECIDED until it is known whether the content is to be read. */
  readonly decision: Int32Array<SharedArrayBuffer>;
}

export const UNDECIDED = 0;
export const READ_ON = 1;
export const GIVE_UP = 2;

export type LoaderMessage =
  /** The loader then waits for the decision. */
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /**
   * One of the organizations that were declared, in their order. Each is a message of its own: to receive thousands of
   * buffers at once takes a time that grows with the square of their number.
   */
  | { readonly organization: OrganizationImage }
  /** All of them were told. */
  | { readonly isComplete: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };
