import type { Linked } from '../best-execution/record-links.ts';
import { markup } from './markup.ts';
import type { Piece } from './markup.ts';

/** Records of a link that a page names; the command lists the rest. */
const NAMED_MAX = 3;

/** Names records as anchors into the table of the page, and remembers which rows that table needs. */
export class RecordAnchors {
  readonly named = new Set<number>();

  of({ count, first }: Linked): Piece {
    if (count === 0) return '–';
    const shown = first.slice(0, NAMED_MAX);
    for (const seq of shown) this.named.add(seq);
    const more = count - shown.length;
    return markup`<span class="records">${shown.map((seq, i) => markup`${i === 0 ? '' : ', '}<a href="#r${seq}">${seq}</a>`)}${more === 0 ? '' : ` +${more}`}</span>`;
  }
}
