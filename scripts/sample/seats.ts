import type { Seating } from './profile.ts';

const LETTERS = 26;

/** Where ticket `number` (from 0) of an offer and session sits; seats are filled row by row, none twice. */
export function seatAt(seating: Seating, number: number) {
  switch (seating.kind) {
    case 'free':
      return null;
    case 'area':
      return { blocName: seating.bloc, seatRow: null, seatNumber: null };
    case 'numbered': {
      const { blocs, rows, seatsPerRow, rowNames } = seating;
      const row = Math.floor(number / seatsPerRow);
      const bloc = Math.floor(row / rows);
      // When all blocs are full, more of the same names are set up: "Balcon", then "Balcon 2".
      const round = Math.floor(bloc / blocs.length) + 1;
      const name = blocs[bloc % blocs.length];
      const inBloc = row % rows;
      return {
        blocName: round === 1 ? name : `${name} ${round}`,
        seatRow: rowNames === 'letters' ? rowLetters(inBloc) : String(inBloc + 1),
        seatNumber: String((number % seatsPerRow) + 1),
      };
    }
  }
}

/** A to Z, then AA to AZ and so on. */
function rowLetters(row: number): string {
  const last = String.fromCharCode(65 + (row % LETTERS));
  return row < LETTERS ? last : rowLetters(Math.floor(row / LETTERS) - 1) + last;
}
