import { instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { messageOf } from '../../../src/operate/notify/channel.ts';
import type { Message } from '../../../src/operate/notify/channel.ts';
import type { Notice } from '../../../src/operate/notify/notice.ts';

export const NINE: Instant = instant(Date.UTC(2026, 11, 1, 9));

export const aNotice = (differs: Partial<Notice> = {}): Notice => ({
  kind: 'venue_unreachable',
  severity: 'critical',
  at: NINE,
  title: 'the venue has not responded for 30 seconds',
  lines: ['pair: btcusd'],
  page: '/#/now',
  ...differs,
});

export const aMessage = (
  notice: Notice = aNotice(),
  base: string | undefined = 'https://desk.example',
): Message => messageOf(notice, { key: 'k1', desk: 'main', mode: 'paper' }, base);
