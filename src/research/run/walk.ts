/** What is looked for: asked about whole blocks first, then about the rows in the narrowest ones. */
export interface Search {
  /** How many levels there are, and how wide the blocks of the narrowest are, ms. */
  readonly levels: number;
  readonly width: number;
  /** Looked for in the blocks from the one that holds `from` to the one that holds `until`, Unix ms. */
  from: number;
  until: number;
  /** How often in a row a narrowest block might have held it. Kept from one walk to the next. */
  misses: number;
  /** Whether it may be in this block. Numbers count from 1970 in widths of the level. A false alarm only costs time. */
  mayHold(level: number, block: number): boolean;
  /** The first instant in these blocks of the narrowest level, Unix ms; `undefined` when they hold none. */
  open(first: number, last: number): number | undefined;
  /** When the next price arrives after the blocks that were opened last, Unix ms: nothing changes before. */
  resumesAt(): number;
}

const FAN_OUT = 4;
/** Up to two to the power of this many narrowest blocks are opened unasked. */
const UNASKED_MAX = 5;

/**
 * The first instant that a search finds. After a block without it the next is asked about, four at once wherever four begin; one
 * that may hold it is opened.
 *
 * Where asking rules nothing out it costs more than it saves: after each time that a narrowest block was asked about for nothing
 * twice as many are opened unasked. One that is ruled out ends that. So asking is at most a small part of what opening costs, and
 * no more is opened for nothing than had to be opened before.
 */
export function walk(search: Search): number | undefined {
  const { levels, from, until } = search;
  let level = 0;
  let { width } = search;
  let block = Math.floor(from / width);
  let isAsked = search.misses < 2;
  while (block * width <= until) {
    if (!isAsked || search.mayHold(level, block)) {
      if (level > 0) {
        level--;
        width /= FAN_OUT;
        block *= FAN_OUT;
        continue;
      }
      if (isAsked) search.misses++;
      const some = search.misses < 2 ? 1 : 1 << Math.min(search.misses - 1, UNASKED_MAX);
      isAsked = true;
      const found = search.open(block, block + some - 1);
      if (found !== undefined) return found;
      block = Math.max(block + some, Math.floor(search.resumesAt() / width));
    } else {
      search.misses = 0;
      block++;
      if (level < levels - 1 && block % FAN_OUT === 0) {
        level++;
        width *= FAN_OUT;
        block /= FAN_OUT;
      }
    }
  }
  return undefined;
}
