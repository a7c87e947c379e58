import { open } from 'node:fs/promises';

/** Brings a file, or the entries of a folder, to the disk, so that it outlasts a loss of power. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
