/** Facts about the instants at which quote requests came in at a server, in milliseconds. */

/** Least time in which `count` arrivals fit: above 1000 for 11, never more than ten came within any second. */
export function leastSpanMs(arrivals: readonly number[], count: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = count - 1; i < arrivals.length; i++)
    least = Math.min(least, (arrivals[i] ?? 0) - (arrivals[i - count + 1] ?? 0));
  return least;
}
