/**
 * A map by ids: texts of which each is new. V8 enters every text by which a `Map` is asked for the first time into its table
 * of all names, which costs many times what the look-up does and pays off for texts that come again and again; an id comes a
 * few times and never again. Here few ids are compared one by one, and many are found by a hash of their characters.
 *
 * In the order of arrival, as a `Map`; what `keys` and `values` tell is how things were when they were asked.
 */
export class IdMap<V extends object | string | number | boolean> implements Iterable<readonly [string, V]> {
  /** In the order of arrival. Where many are, what was deleted leaves a hole. */
  readonly #ids: (string | undefined)[] = [];
  readonly #values: (V | undefined)[] = [];
  /** Of many: the hash of each id, and by hash where each is, counted from 1. */
  readonly #hashes: number[] = [];
  #table: Int32Array | undefined;
  /** Where the oldest is. */
  #first = 0;
  #size = 0;
  /** What `values` told last, until something changes. */
  #list: readonly V[] | undefined;

  constructor(from: Iterable<readonly [string, V]> = []) {
    for (const [id, value] of from) this.set(id, value);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): V | undefined {
    const place = this.#find(id);
    return place < 0 ? undefined : this.#values[place];
  }

  has(id: string): boolean {
    return this.#find(id) >= 0;
  }

  set(id: string, value: V): void {
    this.#list = undefined;
    const known = this.#find(id);
    if (known >= 0) {
      this.#values[known] = value;
      return;
    }
    if (this.#ids.length >= (this.#table === undefined ? FEW : this.#table.length / 2)) this.#spread();
    this.#ids.push(id);
    this.#values.push(value);
    this.#size++;
    if (this.#table === undefined) return;
    const hash = hashOf(id);
    this.#hashes.push(hash);
    enter(this.#table, hash, this.#ids.length);
  }

  /** Whether it was there. */
  delete(id: string): boolean {
    const place = this.#find(id);
    if (place >= 0) this.#drop(place);
    return place >= 0;
  }

  clear(): void {
    this.#ids.length = 0;
    this.#values.length = 0;
    this.#hashes.length = 0;
    this.#table = undefined;
    this.#first = 0;
    this.#size = 0;
    this.#list = undefined;
  }

  /** The value that came first: of an id that was set again, when it came for the first time. */
  oldest(): V | undefined {
    return this.#values[this.#first];
  }

  forgetOldest(): void {
    if (this.#size > 0) this.#drop(this.#first);
  }

  keys(): readonly string[] {
    return this.#ids.filter((id) => id !== undefined);
  }

  values(): readonly V[] {
    return (this.#list ??= this.#values.filter((value) => value !== undefined));
  }

  *[Symbol.iterator](): Generator<readonly [string, V]> {
    const values = this.values();
    for (const [at, id] of this.keys().entries()) {
      const value = values[at];
      if (value !== undefined) yield [id, value];
    }
  }

  /** Where it is; -1 when it is not there. */
  #find(id: string): number {
    const table = this.#table;
    if (table === undefined) return this.#size === 0 ? -1 : this.#ids.indexOf(id);
    const hash = hashOf(id);
    const last = table.length - 1;
    // Never more than half full: there is an end to every row of neighbours.
    for (let at = hash & last; ; at = (at + 1) & last) {
      const place = (table[at] ?? 0) - 1;
      if (place < 0 || (this.#hashes[place] === hash && this.#ids[place] === id)) return place;
    }
  }

  #drop(place: number): void {
    this.#list = undefined;
    this.#size--;
    if (this.#size === 0) this.clear();
    else if (this.#table === undefined) {
      this.#ids.splice(place, 1);
      this.#values.splice(place, 1);
    } else {
      this.#ids[place] = undefined;
      this.#values[place] = undefined;
      while (this.#ids[this.#first] === undefined) this.#first++;
    }
  }

  /** Closes the holes, and makes a table with room for as many again. */
  #spread(): void {
    const [ids, values, hashes] = [this.#ids, this.#values, this.#hashes];
    const isHashed = this.#table !== undefined;
    let count = 0;
    for (let at = this.#first; at < ids.length; at++) {
      const id = ids[at];
      if (id === undefined) continue;
      const hash = isHashed ? hashes[at] : undefined;
      ids[count] = id;
      values[count] = values[at];
      hashes[count] = hash ?? hashOf(id);
      count++;
    }
    ids.length = count;
    values.length = count;
    hashes.length = count;
    this.#first = 0;
    const table = new Int32Array(4 * 2 ** Math.ceil(Math.log2(count)));
    for (const [at, hash] of hashes.entries()) enter(table, hash, at + 1);
    this.#table = table;
  }
}

/** So many ids are compared one by one. */
const FEW = 8;

/** Puts the place of an id where its hash is, or at the next free one. */
function enter(table: Int32Array, hash: number, place: number): void {
  const last = table.length - 1;
  let at = hash & last;
  while (table[at] !== 0) at = (at + 1) & last;
  table[at] = place;
}

/** The hash of an id, 31 bits. One question after another is about the same id. */
function hashOf(id: string): number {
  if (id === lastId) return lastHash;
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0;
  // A table looks at the lower bits alone: those above are to count too.
  lastHash = Math.imul(hash ^ (hash >>> 15), MIX) >>> 1;
  lastId = id;
  return lastHash;
}

const MIX = 0x2c1b3c6d;
let lastId = '';
let lastHash = 0;
