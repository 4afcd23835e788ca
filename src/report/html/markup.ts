import { forTerminal } from '../../core/text/escape.ts';
import { approximate, money, roundEven } from '../../core/money.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { fixed } from '../figures/digits.ts';

/** Finished HTML or SVG. Only `markup` creates it, so that nothing enters unescaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Values of a template: text and numbers are escaped, markup is inserted, `undefined` is empty. */
export type Piece = Markup | string | number | undefined | readonly Piece[];

/** A template whose strings are markup and whose values are escaped, unless they are markup. */
export function markup(strings: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let out = strings[0] ?? '';
  for (const [i, value] of values.entries()) out += written(value) + (strings[i + 1] ?? '');
  return new Markup(out);
}

function written(piece: Piece): string {
  if (piece === undefined) return '';
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string') return escaped(piece);
  return piece.map(written).join('');
}

/** Names and reasons are untrusted text, so they never become markup or change the text direction. */
const escaped = (text: string): string =>
  forTerminal(text).replaceAll(/[&<>"']/gu, (mark) => `&#${mark.charCodeAt(0)};`);

/** Content of a table. */
export interface Table {
  readonly caption: string;
  /** Headers; those that begin with `#` contain numbers. */
  readonly head: readonly string[];
  /** The first cell of a row is its header. */
  readonly rows: readonly (readonly Piece[])[];
  /** Below the caption, in words. */
  readonly note?: string | undefined;
}

export function table({ caption, head, rows, note }: Table): Markup {
  if (rows.length === 0) return markup``;
  const isNumber = head.map((name) => name.startsWith('#'));
  return markup`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">
    <table>
      <caption>
        <div>${caption}${note === undefined ? '' : markup`<small>${note}</small>`}</div>
      </caption>
      <thead>
        <tr>
          ${head.map((name, i) => markup`<th scope="col" class="${isNumber[i] === true ? 'n' : ''}">${name.replace(/^#/u, '')}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            markup`<tr>
              ${row.map((cell, i) => (i === 0 ? markup`<th scope="row">${cell}</th>` : markup`<td class="${isNumber[i] === true ? 'n' : ''}">${cell}</td>`))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

/** An amount for people: rounded, with thousands separators and a minus sign. */
export function grouped(amount: string, decimals = 2): string {
  const [whole = '', after] = roundEven(money(amount), decimals).toFixed(decimals).split('.');
  const digits = whole.replace('-', '').replaceAll(/\B(?=(?:\d{3})+$)/gu, ',');
  return `${whole.startsWith('-') ? '\u2212' : ''}${digits}${after === undefined ? '' : `.${after}`}`;
}

/**
 * Money for people, with decimals that matter beside the whole of which it is a part: a coin is worth more than a
 * dollar.
 */
export function valued(amount: string, whole: string): string {
  const reach = money(whole).abs();
  return grouped(amount, reach.isZero() || reach.gte(1_000) ? 2 : reach.gte(10) ? 4 : 8);
}

/** A price for people: about five significant digits. */
export function priced(each: string): string {
  const size = money(each).abs();
  if (size.gte('0.1')) return grouped(each, size.gte(1_000) ? 2 : size.gte(10) ? 3 : size.gte(1) ? 4 : 6);
  // For cheap coins, six decimals would show nothing.
  return grouped(
    each,
    size.isZero() ? 6 : Math.min(18, 4 - Math.floor(Math.log10(Math.abs(approximate(money(each)))))),
  );
}

/** A quantity for people: with thousands separators, only significant decimals, no trailing zeros. */
export function sized(amount: string): string {
  const reach = money(amount).abs();
  const shown = grouped(amount, reach.gte(1_000) ? 2 : reach.gte(1) ? 4 : 8);
  return shown.includes('.') ? shown.replace(/\.?0+$/u, '') : shown;
}

/** Every trade costs something, so small figures have no colour. */
export const NOTABLE_BPS = 10;

/** The colour of a cost in basis points. */
export const costClass = (bps: number): 'bad' | 'good' | 'small' =>
  Math.abs(bps) <= NOTABLE_BPS ? 'small' : bps > 0 ? 'bad' : 'good';

/** Basis points for people, two decimals; coloured as bad well above zero and good well below it. */
export function bpsCell(text: string | undefined, isGood: 'negative' | 'positive' = 'negative'): Piece {
  if (text === undefined) return markup`<span class="none">–</span>`;
  return markup`<span class="${costClass(Number(text) * (isGood === 'negative' ? 1 : -1))}">${grouped(text)}</span>`;
}

export const percent = (fraction: number | undefined, decimals = 2): string =>
  fraction === undefined
    ? '–'
    : `${withSeparators(fixed(100 * fraction, decimals)).replace('-', '\u2212')}\u00a0%`;

/** `2026-12-01 09:00:00`, UTC; with milliseconds when there are any. */
export const timeText = (iso: string): string => iso.replace('T', ' ').replace(/(?:\.000)?Z$/u, '');

/** The same for a cell: breaks only between day and time. */
export const timeCell = (iso: string): Markup =>
  markup`${timeText(iso)
    .split(' ')
    .map((part, i) => markup`${i === 0 ? '' : ' '}<span class="one">${part}</span>`)}`;
