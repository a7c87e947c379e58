import type { Name } from '../profile.ts';

/** Names in a row, `_` standing for a blank within one, each with its letters for an e-mail address. */
export function latinNames(row: string): Name[] {
  return row.split(' ').map((name) => {
    const written = name.replace('_', ' ');
    const latin = written
      .replace('Ø', 'O')
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '');
    return [written, latin.toLowerCase()];
  });
}
