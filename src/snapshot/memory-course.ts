/** How much memory some work takes while it goes on, in bytes. */
export interface MemoryCourse {
  /** What is there when it is done. */
  readonly held: number;
  /** The most that is there until then. */
  readonly peak: number;
}

/** One after the other: what the first leaves is there while the next goes on. */
export function inTurn(courses: readonly MemoryCourse[]): MemoryCourse {
  let held = 0;
  let peak = 0;
  for (const course of courses) {
    peak = Math.max(peak, held + course.peak);
    held += course.held;
  }
  return { held, peak };
}

/** All at the same time, each of them at its peak when the others are. */
export function atOnce(courses: readonly MemoryCourse[]): MemoryCourse {
  const sum = (part: keyof MemoryCourse) => courses.reduce((total, course) => total + course[part], 0);
  return { held: sum('held'), peak: sum('peak') };
}
