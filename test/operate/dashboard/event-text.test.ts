import { describe, expect, it } from 'vitest';
import { eventReader } from '../../../src/operate/dashboard/data/event-text.ts';
import type { ServerEvent } from '../../../src/operate/dashboard/data/event-text.ts';

const read = (...pieces: readonly string[]): readonly ServerEvent[] => {
  const events: ServerEvent[] = [];
  const take = eventReader((event) => events.push(event));
  for (const piece of pieces) take(piece);
  return events;
};

describe('the reader of the event stream', () => {
  it('reads events however the text is split into chunks', () => {
    const text = ': tranche\n\nid: 7\ndata: {"seq":7}\n\nevent: status\ndata: {"state":"active"}\n\n';
    const whole = read(text);

    expect(whole).toStrictEqual([
      { id: '7', event: 'message', data: '{"seq":7}' },
      { id: '7', event: 'status', data: '{"state":"active"}' },
    ]);
    for (let cut = 1; cut < text.length; cut += 1)
      expect(read(text.slice(0, cut), text.slice(cut))).toStrictEqual(whole);
    expect(read(...text.split(''))).toStrictEqual(whole);
  });

  it('ignores heartbeats and does not emit an unfinished event', () => {
    expect(read(': \n\n', 'id: 1\ndata: x\n')).toStrictEqual([]);
  });

  it('reads lines that end in CRLF and data of several lines', () => {
    expect(read('data: a\r\ndata: b\r\n\r\n')).toStrictEqual([
      { id: undefined, event: 'message', data: 'a\nb' },
    ]);
  });
});
