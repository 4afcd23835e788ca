/** What is looked for: asked about whole blocks first, then about the rows in the narrowest ones. */
export interface Search {
  /** How many levels there are. */
  readonly levels: number;
  /** Whether it may be in this block. Numbers count from 1970 in widths of the level. A false alarm only costs time. */
  mayHold(level: number, block: number): boolean;
  /** The first instant in this block of the lowest level, Unix ms; `undefined` when it holds none. */
  open(block: number): number | undefined;
  /** When the next price arrives after the block that was opened last, Unix ms: nothing changes before. */
  resumesAt(): number;
}

const FAN_OUT = 4;

/**
 * The first instant that a search finds in the blocks from the one that holds `from` to the one that holds `until`. The
 * narrowest blocks are `2 ** exponent` ms wide. After a block without it the next is asked about, four at once wherever four
 * begin; one that may hold it is opened.
 */
export function walk(
  search: Search,
  exponent: number,
  { from, until }: { readonly from: number; readonly until: number },
): number | undefined {
  let level = 0;
  let width = 2 ** exponent;
  let block = Math.floor(from / width);
  while (block * width <= until) {
    if (search.mayHold(level, block)) {
      if (level > 0) {
        level--;
        width /= FAN_OUT;
        block *= FAN_OUT;
        continue;
      }
      const found = search.open(block);
      if (found !== undefined) return found;
      block = Math.max(block + 1, Math.floor(search.resumesAt() / width));
    } else block++;
    if (level < search.levels - 1 && block % FAN_OUT === 0) {
      level++;
      width *= FAN_OUT;
      block /= FAN_OUT;
    }
  }
  return undefined;
}
