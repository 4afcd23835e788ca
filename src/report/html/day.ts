import type { Day } from '../day/day.ts';
import { daySections } from '../day/day-words.ts';
import type { DaySection } from '../day/day-words.ts';
import { isoOf } from '../../core/time.ts';
import { markup, timeText } from './markup.ts';
import type { Markup } from './markup.ts';
import { page } from './page.ts';
import { NAMED_MAX, RecordAnchors, checkWords } from './record-anchors.ts';
import type { RecordRow } from './record-anchors.ts';

export interface DayPage {
  readonly day: Day;
  /** Requests that waited for a person at the end of the day. */
  readonly waiting: readonly string[];
  readonly version: string;
  readonly desks: readonly string[];
  /** Must include the records that `recordsOfDay` names. */
  readonly records: readonly RecordRow[];
  /** The newest record of the journal. */
  readonly head: { readonly seq: number; readonly hash: string };
}

/** Numbers of the records that the page of a day shows, ascending. */
export function recordsOfDay(day: Day): readonly number[] {
  const linked = daySections(day, []).flatMap(({ rows, records = [] }) => [
    records,
    ...rows.map((row) => row.records),
  ]);
  return [...new Set(linked.flatMap((records) => records.slice(0, NAMED_MAX)))].toSorted((a, b) => a - b);
}

/**
 * A day in words as one self-contained HTML document for print, which needs no script and no network. Each line links
 * to its records.
 */
export function dayHtml({ day, waiting, version, desks, records, head }: DayPage): string {
  const span = `${timeText(isoOf(day.from))} to ${timeText(isoOf(day.until))} UTC`;
  const anchors = new RecordAnchors();
  const sections = daySections(day, waiting).map((section) => sectionOf(section, anchors));
  return page({
    version,
    title: `The day, ${span}`,
    header: markup`<h1>The day in words</h1>
<p>${desks.length === 0 ? '' : `Desk ${desks.join(', ')}, `}${span}</p>
<p class="soft">Costs are positive when they are bad for the desk. The numbers after a line identify its records and link to the table at the end; +n counts further records.</p>`,
    main: markup`${sections}<section aria-label="Proof"><h2>Proof</h2>
${checkWords(head)}
${anchors.table(records)}</section>`,
    footer: `Made by Tranche ${version} from ${head.seq} records.`,
  });
}

function sectionOf({ heading, rows, records = [] }: DaySection, anchors: RecordAnchors): Markup {
  const behind = (seqs: readonly number[]): Markup =>
    seqs.length === 0
      ? markup``
      : markup` <small>[${anchors.of({ count: seqs.length, first: seqs })}]</small>`;
  return markup`<section aria-label="${heading}"><h2>${heading}${behind(records)}</h2>
${rows.length === 0 ? '' : markup`<ul class="plain">${rows.map((row) => markup`<li>${row.words}${behind(row.records)}</li>`)}</ul>`}</section>
`;
}
