import { amountOf, isAmount, wordOf } from '../money.ts';

/**
 * Values as text and back, for data that only this program reads: plain objects, lists, maps, sets, amounts with all digits.
 * The text is JSON; a type that JSON lacks is an object with one key that starts with `$`.
 * @throws TypeError on anything else, because it would not survive a round trip.
 */
export const pack = (value: unknown): string => JSON.stringify(bare(value));

/** @throws Error when `text` is not what `pack` wrote. */
export const unpack = (text: string): unknown => whole(JSON.parse(text));

/** Returns the value itself if nothing in it needs encoding, so that most of a state is not copied. */
function bare(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      break;
    case 'undefined':
      return { $u: 1 };
    case 'object':
      if (value === null) return value;
      if (Array.isArray(value)) return bareList(value);
      if (value instanceof Map) return { $m: bareMap(value) };
      if (value instanceof Set) return { $s: bareList([...value]) };
      if (isAmount(value)) return { $a: wordOf(value) };
      if (isPlain(value)) return bareObject(value);
      break;
    case 'bigint':
    case 'function':
    case 'symbol':
  }
  throw new TypeError(`a ${typeof value} cannot be kept`);
}

function bareList(list: readonly unknown[]): unknown {
  return list.map(bare);
}

/** Keys and values alternate. */
function bareMap(map: ReadonlyMap<unknown, unknown>): unknown {
  const members: unknown[] = [];
  for (const [key, value] of map) members.push(bare(key), bare(value));
  return members;
}

/** Whether plain JSON can represent the object, as for nearly all small objects in a state. */
function isSimple(from: object): boolean {
  for (const key of Object.keys(from)) {
    const value: unknown = Reflect.get(from, key);
    if (typeof value !== 'string' && typeof value !== 'boolean' && !Number.isFinite(value)) return false;
    if (key.startsWith('$') || key === '__proto__') return false;
  }
  return true;
}

function bareObject(from: object): unknown {
  if (isSimple(from)) return from;
  let isOdd = false;
  const members: [string, unknown][] = [];
  for (const [key, value] of Object.entries(from)) {
    if (key.startsWith('$') || key === '__proto__') isOdd = true;
    members.push([key, bare(value)]);
  }
  if (isOdd) return { $o: members };
  return Object.fromEntries(members);
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** Decodes the encoded values in place. */
function whole(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = whole(value[at]);
    return value;
  }
  for (const key of Object.keys(value)) {
    if (key.startsWith('$')) return meant(key, Reflect.get(value, key));
    const each: unknown = Reflect.get(value, key);
    if (typeof each === 'object' && each !== null) Reflect.set(value, key, whole(each));
  }
  return value;
}

function meant(word: string, about: unknown): unknown {
  if (word === '$u') return undefined;
  if (word === '$a' && typeof about === 'string') return amountOf(about);
  if (Array.isArray(about)) {
    const list = whole(about) as unknown[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- in place
    if (word === '$s') return new Set(list);
    if (word === '$m') {
      const map = new Map<unknown, unknown>();
      for (let at = 0; at < list.length; at += 2) map.set(list[at], list[at + 1]);
      return map;
    }
    if (word === '$o') return Object.fromEntries(list as [string, unknown][]); // oxlint-disable-line typescript/no-unsafe-type-assertion -- `pack` wrote pairs
  }
  throw new TypeError(`"${word}" is not a word of a packed value`);
}
