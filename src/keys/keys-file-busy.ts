/** Another process was writing to the keys file for longer than was waited for. What it holds is not in doubt: try again. */
export class KeysFileBusy extends Error {
  override readonly name = 'KeysFileBusy';
  constructor() {
    super('another process is writing to it; try again');
  }
}
