/** For SNAPSHOT_POLL_SECONDS: a new snapshot is noticed soon, so that little of what is measured is a wait. */
export const POLL_SECONDS = '0.05';
