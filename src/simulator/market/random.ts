import type { Random } from '../../engine/ports.ts';

/** Seeded randomness, so that the same seed gives the same numbers on every machine. */
export function seededRandom(seed: string): Random {
  let state = hash32(seed);
  return {
    next() {
      state = (state + 0x9e3779b9) | 0;
      return mix(state) / 2 ** 32;
    },
  };
}

/** 32-bit hash of `text` (FNV-1a, then mixed). */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/**
 * A standard normal number determined by seed, level and index, independent of the order of calls. Uses Box-Muller over
 * two mixed words.
 */
export function normalAt(seed: number, level: number, index: number): number {
  const low = index >>> 0;
  const high = Math.floor(index / 2 ** 32);
  const place = mix(
    mix(mix(seed ^ Math.imul(level + 1, 0x9e3779b9)) ^ low) ^ Math.imul(high + 1, 0x85ebca6b),
  );
  const first = (mix(place ^ 0x68bc21eb) + 0.5) / 2 ** 32;
  const second = mix(place ^ 0x02e5be93) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(first)) * Math.cos(2 * Math.PI * second);
}

/** Mixes 32 bits (the finalizer of MurmurHash3). The result is unsigned. */
export function mix(word: number): number {
  let bits = word | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
