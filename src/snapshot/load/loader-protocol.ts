import type { OrganizationImage } from '../../store/organization-image.ts';
import type { Manifest } from '../format/manifest.ts';
import type { RefusalReason } from '../format/refused-snapshot.ts';
import type { OnProgress } from './read-snapshot.ts';

/** The messages between the loader and the thread that starts it. */

export interface LoaderOrder {
  readonly path: string;
  readonly isToTellProgress: boolean;
  /** One element: `UNDECIDED` until it is known whether the content is to be read. */
  readonly decision: Int32Array<SharedArrayBuffer>;
}

export const UNDECIDED = 0;
export const READ = 1;
export const GIVE_UP = 2;

export type LoaderMessage =
  /** The loader then waits for the decision. */
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /**
   * One of the organizations that were declared, in their order. Each is a message of its own: the time to receive
   * buffers grows with the square of their number in a message.
   */
  | { readonly organization: OrganizationImage }
  /** All organizations were sent. */
  | { readonly isComplete: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };
