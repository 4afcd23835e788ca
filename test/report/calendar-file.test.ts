import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instant } from '../../src/core/time.ts';
import { calendarFile } from '../../src/planning/calendar-file.ts';
import type { CalendarEvent } from '../../src/planning/calendar-file.ts';

const madeAt = instant(Date.UTC(2026, 10, 21, 12));
const anEvent = (over: Partial<CalendarEvent> = {}): CalendarEvent => ({
  uid: 'one@tranche',
  from: instant(Date.UTC(2026, 11, 1, 9, 0, 0, 397)),
  to: instant(Date.UTC(2026, 11, 1, 13)),
  summary: 'one: buy 1.5 btc',
  description: 'twap',
  isOff: false,
  ...over,
});

/** Reads a calendar by the grammar of RFC 5545 only: content lines, folding, escapes. Throws if the file violates it. */
function parsed(file: string): readonly ReadonlyMap<string, string>[] {
  if (!file.endsWith('\r\n')) throw new Error('the last line has no end');
  if (/(?<!\r)\n|\r(?!\n)/u.test(file)) throw new Error('a line end that is not CRLF');
  const long = file.split('\r\n').find((line) => Buffer.byteLength(line, 'utf8') > 75);
  if (long !== undefined) throw new Error(`a line of more than 75 octets: ${long}`);
  const lines = file
    .slice(0, -2)
    .replaceAll(/\r\n[ \t]/gu, '')
    .split('\r\n');
  const stack: string[] = [];
  const events: Map<string, string>[] = [];
  for (const line of lines) {
    const groups = /^(?<name>[A-Z-]+):(?<value>[^]*)$/u.exec(line)?.groups;
    if (groups === undefined) throw new Error(`not a content line: ${line}`);
    const { name = '', value = '' } = groups;
    if (/[^\P{Cc}\t]/u.test(value)) throw new Error('a control character');
    if (name === 'BEGIN') {
      stack.push(value);
      if (value === 'VEVENT') events.push(new Map());
    } else if (name === 'END') {
      if (stack.pop() !== value) throw new Error(`${value} ends and has not begun`);
    } else if (stack.at(-1) === 'VEVENT') {
      if (events.at(-1)?.has(name) === true) throw new Error(`${name} comes twice`);
      events.at(-1)?.set(name, unescaped(value));
    } else if (name === 'VERSION' && value !== '2.0') throw new Error('another version');
  }
  if (stack.length > 0) throw new Error(`${stack.join(' and ')} never end`);
  return events;
}

function unescaped(value: string): string {
  let text = '';
  for (let i = 0; i < value.length; i++) {
    const c = value.charAt(i);
    if (c === ';' || c === ',') throw new Error(`not escaped: ${value}`);
    if (c !== '\\') text += c;
    else {
      const next = value.charAt(++i);
      if (!'\\;,nN'.includes(next) || next === '') throw new Error(`an unknown escape: ${value}`);
      text += next === 'n' || next === 'N' ? '\n' : next;
    }
  }
  return text;
}

describe('calendarFile', () => {
  it('is read back by an independent reader of RFC 5545', () => {
    const [event] = parsed(calendarFile([anEvent()], { madeAt }));
    expect(Object.fromEntries(event ?? [])).toEqual({
      UID: 'one@tranche',
      DTSTAMP: '20261121T120000Z',
      DTSTART: '20261201T090000Z',
      DTEND: '20261201T130000Z',
      SUMMARY: 'one: buy 1.5 btc',
      DESCRIPTION: 'twap',
      STATUS: 'CONFIRMED',
      TRANSP: 'OPAQUE',
    });
  });

  it('shows a closed time as cancelled and as free time', () => {
    const [event] = parsed(calendarFile([anEvent({ isOff: true })], { madeAt }));
    expect([event?.get('STATUS'), event?.get('TRANSP')]).toEqual(['CANCELLED', 'TRANSPARENT']);
  });

  it.each([
    ['escapes', String.raw`a, b; c\n \ d`],
    ['line ends', 'one\ntwo\r\nthree'],
    ['long lines of wide characters, folded between them', '€'.repeat(200) + '🚀'.repeat(60)],
  ])('keeps %s', (_what, description) => {
    const [event] = parsed(calendarFile([anEvent({ description })], { madeAt }));
    expect(event?.get('DESCRIPTION')).toBe(description.replaceAll('\r\n', '\n'));
  });

  it('keeps any text except control characters, in lines of at most 75 octets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (summary) => {
        const [event] = parsed(calendarFile([anEvent({ summary })], { madeAt }));
        const meant = summary
          .toWellFormed()
          .replaceAll(/\r\n?/gu, '\n')
          .replaceAll(/[^\P{Cc}\t\n]/gu, '');
        expect(event?.get('SUMMARY')).toBe(meant);
      }),
    );
  });

  it('returns a calendar without events if nothing is planned', () => {
    expect(parsed(calendarFile([], { madeAt }))).toEqual([]);
  });
});
