import { markup, table, timeText } from './markup.ts';
import type { Markup, Piece } from './markup.ts';

/** Maximum number of records of a link that a page names; the page only counts the others. */
export const NAMED_MAX = 3;

/** A row of the table of records. */
export interface RecordRow {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: string;
  /** Description in one line. */
  readonly words: string;
  readonly hash: string;
}

/** Names records as anchors into the page's table, and remembers which rows that table needs. */
export class RecordAnchors {
  readonly #named = new Set<number>();

  of({ count, first }: { readonly count: number; readonly first: readonly number[] }): Piece {
    if (count === 0) return '–';
    const shown = first.slice(0, NAMED_MAX);
    for (const seq of shown) this.#named.add(seq);
    const more = count - shown.length;
    return markup`<span class="records">${shown.map((seq, i) => markup`${i === 0 ? '' : ', '}<a href="#r${seq}">${seq}</a>`)}${more === 0 ? '' : ` +${more}`}</span>`;
  }

  /** The rows of all named records. Call it last for a page. */
  table(rows: readonly RecordRow[]): Markup {
    return table({
      caption: 'Records that this page names',
      head: ['#Record', 'Time, UTC', 'Its content and hash'],
      rows: rows
        .filter(({ seq }) => this.#named.has(seq))
        .map(({ seq, at, kind, words, hash }) => [
          markup`<a id="r${seq}"></a>${seq}`,
          markup`<span class="one">${timeText(at)}</span>`,
          markup`${kind} <small>${words}</small><div><code>${hash}</code></div>`,
        ]),
    });
  }
}

/** How a reader verifies that a page was created from a given journal. */
export const checkWords = ({ seq, hash }: { readonly seq: number; readonly hash: string }): Markup =>
  markup`<p>The hash of record ${seq} covers every record before it: <code>${hash}</code></p>
<p>To verify that these figures come from your journal, and that no record was changed or removed, run <code>tranche journal verify JOURNAL --head ${hash}</code>. The same window over the same records produces this page again, byte for byte.</p>`;
