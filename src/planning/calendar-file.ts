import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';

/** A calendar file according to RFC 5545, so that people see a desk's plan in their calendar program. */

export interface CalendarEvent {
  /**
   * Id that is the same in every export for the same event, so that a calendar program updates the event instead of
   * adding another.
   */
  readonly uid: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly summary: string;
  /** Lines end in `\n`. */
  readonly description: string;
  /** Nothing trades at this time; the event is shown struck through, and as free time. */
  readonly isOff: boolean;
}

/** The file. `madeAt` is the time of the export. Ends in CRLF. */
export function calendarFile(
  events: readonly CalendarEvent[],
  { madeAt }: { readonly madeAt: Instant },
): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Tranche//tranche plan//EN',
    'CALSCALE:GREGORIAN',
    ...events.flatMap((event) => eventLines(event, madeAt)),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

const eventLines = (event: CalendarEvent, madeAt: Instant): readonly string[] => [
  'BEGIN:VEVENT',
  `UID:${textValue(event.uid)}`,
  `DTSTAMP:${stamp(madeAt)}`,
  `DTSTART:${stamp(event.from)}`,
  `DTEND:${stamp(event.to)}`,
  `SUMMARY:${textValue(event.summary)}`,
  `DESCRIPTION:${textValue(event.description)}`,
  `STATUS:${event.isOff ? 'CANCELLED' : 'CONFIRMED'}`,
  `TRANSP:${event.isOff ? 'TRANSPARENT' : 'OPAQUE'}`,
  'END:VEVENT',
];

/** `20261201T090000Z`. The format has no fractions of a second. */
const stamp = (at: Instant): string => isoOf(at).replace(/\.\d+/u, '').replaceAll(/[-:]/gu, '');

/** Backslash, semicolon, comma and line end are written as two characters; other control characters are left out. */
const textValue = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\\;,]/gu, String.raw`\$&`)
    .replaceAll(/\r\n?|\n/gu, String.raw`\n`)
    .replaceAll(/[^\P{Cc}\t]/gu, '');

const LINE_OCTETS = 75;

/**
 * Folds a line: at most 75 octets without its end. Longer lines continue on the next line after a space, never inside
 * a character.
 */
function folded(line: string): string {
  const lines: string[] = [];
  let now = '';
  let octets = 0;
  for (const character of line) {
    const long = octetsOf(character);
    if (octets + long > LINE_OCTETS) {
      lines.push(now);
      now = ' ';
      octets = 1;
    }
    now += character;
    octets += long;
  }
  return [...lines, now].join('\r\n');
}

/** Number of octets of a character in UTF-8. */
function octetsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_00_00 ? 3 : 4;
}
