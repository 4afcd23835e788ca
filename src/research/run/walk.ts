/** A search over blocks of time: first over whole blocks, then over the rows in the narrowest ones. */
export interface Search {
  /** Number of levels, and width of the narrowest blocks, ms. */
  readonly levels: number;
  readonly width: number;
  /** Searches from the block that contains `from` to the block that contains `until`, Unix ms. */
  from: number;
  until: number;
  /** Number of consecutive narrowest blocks that might have contained a result and did not. Kept between walks. */
  misses: number;
  /**
   * Whether the block may contain a result. Block numbers count from 1970 in widths of the level. A false positive only
   * costs time.
   */
  mayHold(level: number, block: number): boolean;
  /** Returns the first result in these blocks of the narrowest level, Unix ms; `undefined` if there is none. */
  open(first: number, last: number): number | undefined;
  /** Returns when the next price arrives after the blocks that were opened last, Unix ms. Nothing changes before that. */
  resumesAt(): number;
}

const FAN_OUT = 4;
/** Exponent: at most two to this power narrowest blocks are opened without a check. */
const UNASKED_MAX = 5;

/**
 * Returns the first instant that a search finds. After a block without a result, it checks the next block, or four
 * together wherever a group of four begins, and opens a block that may contain a result.
 *
 * Checks that exclude nothing cost more than they save. After each useless check of a narrowest block, twice as many
 * blocks are therefore opened without a check, until a check excludes a block. Thus checks cost at most a small part of
 * the cost of opening blocks, and no more blocks are opened unnecessarily than had to be opened before.
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
