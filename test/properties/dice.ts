/** Chance of one set: a small fast generator (sfc32), so that a set is a function of its seed alone. */
export class Dice {
  #a = 0;
  #b = 0;
  #c = 0;
  #count = 0;

  seed(seed: number): void {
    this.#a = 0x9e3779b9 ^ seed;
    this.#b = Math.imul(seed, 0x85ebca6b) ^ Math.trunc(seed / 2 ** 32);
    this.#c = 0x243f6a88;
    this.#count = 1;
    for (let i = 0; i < 10; i++) this.next();
  }

  /** 32 bits. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.trunc((this.next() / 2 ** 32) * count);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True `share` times in 256. */
  is(share: number): boolean {
    return this.next() >>> 24 < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}
