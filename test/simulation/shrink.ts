import type { Fault, Plan } from './scenario.ts';

/**
 * The smallest plan that still goes wrong in the same way: first without the faults that do not matter, then with less
 * work and plainer settings, then with smaller values.
 *
 * @param isBad Plays a plan and says whether it goes wrong in that way.
 * @param budget Plays at most this often.
 */
export function shrink(plan: Plan, isBad: (plan: Plan) => boolean, budget = 2_000): Plan {
  let left = budget;
  let best = plan;
  const keeps = (candidate: Plan): boolean => {
    if (left-- <= 0 || !isBad(candidate)) return false;
    best = candidate;
    return true;
  };
  if (!keeps(plan)) return plan;
  fewerFaults(() => best, keeps);
  for (const name of Object.keys(best.settings)) {
    for (;;) {
      const value = best.settings[name] ?? 0;
      const smaller = [0, Math.trunc(value / 2), value - Math.sign(value)];
      const isSmaller = smaller.some(
        (next) => next !== value && keeps({ ...best, settings: { ...best.settings, [name]: next } }),
      );
      if (!isSmaller || left <= 0) break;
    }
  }
  best.faults.forEach((_, index) => {
    for (const value of [0, 0.5]) {
      const faults = best.faults.map((fault, i) => (i === index ? { ...fault, value } : fault));
      if ((best.faults[index]?.value ?? 0) > value && keeps({ ...best, faults })) break;
    }
  });
  fewerFaults(() => best, keeps);
  return best;
}

/** Delta debugging: takes ever smaller runs of faults out, for as long as that keeps it wrong. */
function fewerFaults(current: () => Plan, keeps: (plan: Plan) => boolean): void {
  for (let size = current().faults.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < current().faults.length;) {
      const faults: readonly Fault[] = current().faults.toSpliced(from, size);
      if (!keeps({ ...current(), faults })) from += size;
    }
  }
}
