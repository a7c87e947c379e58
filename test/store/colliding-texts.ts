/** Distinct texts of the same FNV-1a hash of 32 bits. */
export const COLLIDING_TEXTS: readonly (readonly [string, string])[] = [
  ['costarring', 'liquid'],
  ['declinate', 'macallums'],
  ['altarage', 'zinke'],
];
