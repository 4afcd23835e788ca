import type { Fault, Plan } from './scenario.ts';

/**
 * Chance of a run. Every draw is a function of the seed and of the point it is for, never of what was drawn before: a
 * fault that is taken out of a plan leaves all others where they were, which is what makes a plan shrink.
 */

/** Four words in, one word out; each bit of the result hangs on each bit of the input. */
export function mix(a: number, b: number, c: number, d: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15) ^ b, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 13) ^ c, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 16) ^ d, 0x165667b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

/** A word that stands for `text`. */
export function word(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** A fault that can happen at a site: its name and the highest rate that a seed gives it. */
export type Menu = Readonly<Record<string, number>>;

/** A place where something can go wrong, each time that a run passes it. */
export interface Site {
  readonly name: string;
  readonly id: number;
  readonly kinds: readonly string[];
  readonly rates: readonly number[];
}

export const site = (name: string, menu: Menu): Site => ({
  name,
  id: word(name),
  kinds: Object.keys(menu),
  rates: Object.values(menu),
});

/** Share of the kinds of fault that a seed switches on: few at a time find what all together hide. */
const DENSITIES = [0, 0.08, 0.2, 0.35, 0.6] as const;

const WORD = 2 ** 32;

export class Chance {
  readonly seed: number;
  readonly #low: number;
  readonly #high: number;
  /** Set when a plan is played: only its faults happen. */
  readonly #planned: ReadonlyMap<string, Fault> | undefined;
  readonly #given: Readonly<Record<string, number>>;
  readonly #settings: Record<string, number> = {};
  readonly #faults: Fault[] = [];
  readonly #rates = new Map<Site, readonly number[]>();
  readonly #density: number;
  /** No fault from here on: the world heals. */
  isHealed = false;

  constructor(from: number | Plan) {
    const plan = typeof from === 'number' ? undefined : from;
    this.seed = typeof from === 'number' ? from : from.seed;
    this.#low = (this.seed % WORD) | 0;
    this.#high = Math.floor(this.seed / WORD) | 0;
    this.#planned = plan === undefined ? undefined : new Map(plan.faults.map((fault) => [fault.at, fault]));
    this.#given = plan?.settings ?? {};
    this.#density = DENSITIES[(this.draw('density', 0) * DENSITIES.length) | 0] ?? 0;
  }

  /** Uniform in [0, 1): the same for the same point. */
  draw(what: string | number, key: string | number): number {
    return mix(this.#low, this.#high, wordOf(what), wordOf(key)) / WORD;
  }

  /** A whole number from `least` to `most`, for ever the same in this run and written into its plan. */
  setting(name: string, least: number, most: number): number {
    const drawn = least + Math.floor(this.draw(`setting ${name}`, 0) * (most - least + 1));
    const value = Math.min(most, Math.max(least, this.#given[name] ?? drawn));
    this.#settings[name] = value;
    return value;
  }

  /** What goes wrong at this point; `undefined` when all is well. To be asked once a point. */
  at(where: Site, key: string | number): Fault | undefined {
    if (this.isHealed) return undefined;
    if (this.#planned !== undefined) {
      if (this.#planned.size === 0) return undefined;
      const fault = this.#planned.get(`${where.name}@${key}`);
      if (fault !== undefined) this.#faults.push(fault);
      return fault;
    }
    let rates = this.#rates.get(where);
    if (rates === undefined) this.#rates.set(where, (rates = this.#swarm(where)));
    if (rates.length === 0) return undefined;
    let left = mix(this.#low, this.#high, where.id, wordOf(key)) / WORD;
    for (let i = 0; i < rates.length; i++) {
      left -= rates[i] ?? 0;
      if (left >= 0) continue;
      const fault: Fault = {
        at: `${where.name}@${key}`,
        kind: where.kinds[i] ?? '',
        value: mix(this.#low, this.#high ^ 0x5bd1e995, where.id, wordOf(key)) / WORD,
      };
      this.#faults.push(fault);
      return fault;
    }
    return undefined;
  }

  plan(scenario: string): Plan {
    return { scenario, seed: this.seed, settings: this.#settings, faults: this.#faults };
  }

  /** Rates of this seed: each kind is off, or on at up to its highest rate. Empty when all are off. */
  #swarm(where: Site): readonly number[] {
    const rates = where.rates.map((most, i) => {
      if (this.draw(where.id, `${i} on`) >= this.#density) return 0;
      return most * this.draw(where.id, `${i} rate`);
    });
    // Where nothing is switched on nothing need be drawn.
    return rates.some((rate) => rate > 0) ? rates : [];
  }
}

const wordOf = (what: string | number): number => (typeof what === 'number' ? what | 0 : word(what));

/** A hash over everything that happens, cheap enough to be kept for every event. */
export class Trace {
  #a = 0x243f6a88;
  #b = 0x85a308d3;

  add(what: string | number): void {
    const value = typeof what === 'number' ? what : word(what);
    this.#a = Math.imul(this.#a ^ value, 0x01000193) + (this.#b >>> 7);
    this.#b = Math.imul(this.#b ^ (value >>> 3) ^ this.#a, 0x85ebca6b) ^ (this.#a >>> 11);
  }

  get hash(): string {
    return [this.#a, this.#b].map((each) => (each >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
