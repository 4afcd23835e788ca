/** Uniform in [0, 1), a pure function of its two whole numbers. Uses the mixing steps of the murmur3 finaliser. */
export function uniform(seed: number, index: number): number {
  let x = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca77)) >>> 0;
  for (const by of [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]) x = Math.imul(x ^ (x >>> 15), by) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}
