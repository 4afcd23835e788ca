/**
 * A map by ids: texts of which each is new. V8 enters every text by which a `Map` is asked for the first time into its table
 * of all names, which costs many times what the look-up does and pays off for texts that come again and again; an id comes a
 * few times and never again. Here few ids are compared one by one, and many are found by a hash of their characters.
 *
 * In the order of arrival, as a `Map`; what `keys` and `values` tell is how things were when they were asked.
 */
export class IdMap<V extends object | string | number | boolean> implements Iterable<readonly [string, V]> {
  /** In the order of arrival. Where many are, what was deleted leaves a hole. */
  #ids: (string | undefined)[] = roomFor(FEW);
  #values: (V | undefined)[] = roomFor(FEW);
  /** Of many: the hash of each id, and a table by hash that tells where each is. */
  #hashes: Int32Array | undefined;
  #table: Int32Array | undefined;
  /** Where the oldest is, and where the next is to be. */
  #first = 0;
  #end = 0;
  #size = 0;
  /** Of many: the id that was asked for last, and where it is. One question after another is about the same. */
  #asked: string | undefined;
  #askedAt = ABSENT;
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
    if (this.#end === this.#ids.length) this.#spread();
    const place = this.#end++;
    this.#ids[place] = id;
    this.#values[place] = value;
    this.#size++;
    if (this.#table === undefined || this.#hashes === undefined) return;
    const hash = hashOf(id);
    this.#hashes[place] = hash;
    enter(this.#table, hash, place);
    this.#asked = id;
    this.#askedAt = place;
  }

  /** Whether it was there. */
  delete(id: string): boolean {
    return this.take(id) !== undefined;
  }

  /** Takes it out: what it was. */
  take(id: string): V | undefined {
    const place = this.#find(id);
    if (place < 0) return undefined;
    const value = this.#values[place];
    this.#drop(place);
    return value;
  }

  clear(): void {
    this.#ids = roomFor(FEW);
    this.#values = roomFor(FEW);
    this.#hashes = undefined;
    this.#table = undefined;
    this.#first = 0;
    this.#end = 0;
    this.#size = 0;
    this.#asked = undefined;
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
    return (this.#list ??= this.#listed());
  }

  #listed(): readonly V[] {
    // Mostly there is none, or one alone: an attempt under way.
    if (this.#size === 0) return NONE;
    const oldest = this.oldest();
    if (this.#size === 1 && oldest !== undefined) return [oldest];
    return this.#values.filter((value) => value !== undefined);
  }

  *[Symbol.iterator](): Generator<readonly [string, V]> {
    const values = this.values();
    for (const [at, id] of this.keys().entries()) {
      const value = values[at];
      if (value !== undefined) yield [id, value];
    }
  }

  #find(id: string): number {
    const table = this.#table;
    if (table === undefined || this.#hashes === undefined) {
      for (let place = 0; place < this.#end; place++) if (this.#ids[place] === id) return place;
      return ABSENT;
    }
    if (id === this.#asked) return this.#askedAt;
    const hash = hashOf(id);
    this.#asked = id;
    this.#askedAt = ABSENT;
    const last = table.length - 1;
    // Never more than half full: there is an end to every row of neighbours.
    for (let at = hash & last; ; at = (at + 1) & last) {
      const entry: number = table[at] ?? 0;
      if (entry === 0) return ABSENT;
      // Nearly always the entry alone tells that it is another id: nothing else is read.
      if (((entry ^ hash) & ~last) !== 0) continue;
      const place = (entry & last) - 1;
      if (this.#ids[place] === id) return (this.#askedAt = place);
    }
  }

  #drop(place: number): void {
    this.#list = undefined;
    this.#size--;
    const isMany = this.#table !== undefined;
    if (isMany && this.#size === 0) {
      this.clear();
      return;
    }
    this.#ids[place] = undefined;
    this.#values[place] = undefined;
    if (isMany) {
      if (this.#askedAt === place) this.#askedAt = ABSENT;
      while (this.#ids[this.#first] === undefined) this.#first++;
      return;
    }
    this.#end--;
    for (let at = place; at < this.#end; at++) {
      this.#ids[at] = this.#ids[at + 1];
      this.#values[at] = this.#values[at + 1];
    }
    this.#ids[this.#end] = undefined;
    this.#values[this.#end] = undefined;
  }

  /** Closes the holes, and makes room for as many again at least. */
  #spread(): void {
    const [ids, values, hashes] = [this.#ids, this.#values, this.#hashes];
    const room = Math.max(FEW, 2 ** Math.ceil(Math.log2(2 * this.#size)));
    // Where the oldest are forgotten as the newest come, it is the same room again and again.
    const isSame = hashes !== undefined && room === ids.length;
    if (!isSame) {
      this.#ids = roomFor(room);
      this.#values = roomFor(room);
    }
    this.#hashes = isSame ? hashes : new Int32Array(room);
    this.#table = isSame && this.#table !== undefined ? this.#table.fill(0) : new Int32Array(2 * room);
    let end = 0;
    for (let at = this.#first; at < this.#end; at++) {
      const id = ids[at];
      if (id === undefined) continue;
      const hash = hashes?.[at] ?? hashOf(id);
      this.#ids[end] = id;
      this.#values[end] = values[at];
      this.#hashes[end] = hash;
      enter(this.#table, hash, end++);
    }
    if (isSame) {
      ids.fill(undefined, end);
      values.fill(undefined, end);
    }
    this.#first = 0;
    this.#end = end;
    this.#asked = undefined;
  }
}

/** Where an id is that is not there. */
const ABSENT = -1;

/** Not frozen: V8 steps through frozen arrays slowly. */
const NONE: readonly never[] = [];

/** So many ids are compared one by one. */
const FEW = 8;

function roomFor<T>(count: number): (T | undefined)[] {
  const room: (T | undefined)[] = [];
  room.length = count;
  return room.fill(undefined);
}

/**
 * Puts the place of an id where its hash is, or at the next free one. The entry holds the place, counted from 1, in as many
 * bits as tell where an entry is, and above them those of the hash.
 */
function enter(table: Int32Array, hash: number, place: number): void {
  const last = table.length - 1;
  let at = hash & last;
  while (table[at] !== 0) at = (at + 1) & last;
  table[at] = (hash & ~last) | (place + 1);
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
