import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryOutbox } from '../../../src/core/outbox.ts';
import type { OutboxPort } from '../../../src/core/outbox.ts';
import type { RecordBody, StoredRecord } from '../../../src/core/record.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { Undelivered } from '../../../src/operate/notify/channel.ts';
import type { Channel } from '../../../src/operate/notify/channel.ts';
import { Notifier } from '../../../src/operate/notify/notifier.ts';
import { NINE, aNotice } from './notices.ts';
import { recordingChannel } from './recording-channel.ts';

interface Bench {
  readonly notifier: Notifier;
  readonly clock: VirtualClock;
  readonly outbox: OutboxPort;
  readonly failing: string[];
  /** Whether orders are in progress. */
  readonly orders: { areUnderWay: boolean };
  readonly warned: string[];
  /** Lets time pass, second by second, so that sent messages arrive. */
  pass(ms: number): Promise<void>;
  kill(): void;
}

const WINDOW_MS = 30 * SECOND_MS;

function aBench(
  channels: readonly Channel[],
  {
    outbox = memoryOutbox(),
    at = NINE,
    past = [],
  }: { readonly outbox?: OutboxPort; readonly at?: Instant; readonly past?: readonly StoredRecord[] } = {},
): Bench {
  const clock = new VirtualClock(at);
  const orders = { areUnderWay: false };
  const [failing, warned]: [string[], string[]] = [[], []];
  const notifier = new Notifier({
    desk: 'main',
    mode: 'paper',
    channels,
    outbox,
    clock,
    random: { next: () => 0.5 },
    windowMs: WINDOW_MS,
    dashboard: 'https://desk.example',
    isBusy: () => orders.areUnderWay,
    onFailing: (channel, why) => failing.push(`${channel}: ${why}`),
    warn: (text) => warned.push(text),
  });
  notifier.recover(past.at(-1)?.seq ?? 0, (seq) => past.filter((one) => one.seq > seq));
  const running = notifier.running$.subscribe();
  const kill = (): void => {
    running.unsubscribe();
  };
  onTestFinished(kill);
  return {
    notifier,
    clock,
    outbox,
    failing,
    orders,
    warned,
    kill,
    async pass(ms) {
      for (let left = ms; left > 0; left -= SECOND_MS) {
        clock.run(after(instant(clock.now()), Math.min(left, SECOND_MS)));
        for (let turn = 0; turn < 4; turn++) await Promise.resolve();
      }
    },
  };
}

const stored = (seq: number, body: RecordBody, at: Instant = NINE): StoredRecord => ({
  seq,
  at,
  body,
  hash: '',
});
const anAlert = (seq: number, differs: object = {}, at?: Instant): StoredRecord =>
  stored(
    seq,
    { kind: 'alert', alert: 'limit_refused', severity: 'warning', facts: { n: seq }, ...differs },
    at,
  );

describe('alerts within one window', () => {
  it('are sent as one message at the end of the window, counted by kind', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    for (let seq = 1; seq <= 1_000; seq++) bench.notifier.take(anAlert(seq));
    await bench.pass(29 * SECOND_MS);
    expect(chat.messages).toEqual([]);
    await bench.pass(2 * SECOND_MS);
    expect(chat.messages.map(({ sections }) => sections.map(({ kind, count }) => [kind, count]))).toEqual([
      [['limit_refused', 1_000]],
    ]);
    await bench.pass(5 * MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
    expect(bench.outbox.load().rows).toEqual([]);
  });

  it('are sent immediately with a critical one; its repeats wait for the window, another critical kind does not', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.notifier.take(anAlert(1));
    bench.notifier.take(anAlert(2, { alert: 'halted', severity: 'critical' }));
    await bench.pass(2 * SECOND_MS);
    expect(chat.messages.map(({ title }) => title)).toEqual([
      'main (paper): critical: the desk is halted: it requests no quote and sends no order; in all 2 alerts',
    ]);
    for (let seq = 3; seq < 53; seq++)
      bench.notifier.take(anAlert(seq, { alert: 'halted', severity: 'critical' }));
    await bench.pass(10 * SECOND_MS);
    expect(chat.messages).toHaveLength(1);
    bench.notifier.take(anAlert(53, { alert: 'venue_down', severity: 'critical' }));
    await bench.pass(2 * SECOND_MS);
    expect(chat.messages[1]?.sections.map(({ kind, count }) => [kind, count])).toEqual([['halted', 50], ['venue_down', 1]]); // prettier-ignore
  });
});

describe('a notification channel', () => {
  it('receives only its topics and severities', async () => {
    const some = recordingChannel({ topics: new Set(['alerts', 'approvals']), severity: 'critical' });
    const bench = aBench([some]);
    bench.notifier.tell(aNotice({ kind: 'a', severity: 'warning' }));
    bench.notifier.tell(aNotice({ kind: 'b', severity: 'info', topic: 'fills' }));
    bench.notifier.tell(aNotice({ kind: 'c', severity: 'warning', topic: 'approvals' }));
    bench.notifier.tell(aNotice({ kind: 'd' }));
    await bench.pass(MINUTE_MS);
    expect(some.messages.flatMap(({ sections }) => sections.map(({ kind }) => kind)).toSorted()).toEqual(['c', 'd']); // prettier-ignore
  });

  it('receives only critical notices in its quiet hours, and the others in one message afterwards', async () => {
    const days = new Set(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const);
    const chat = recordingChannel({ quiet: [{ from: '22:00', to: '07:00', timeZone: 'Asia/Tokyo', days }] });
    const at = instant(Date.parse('2026-12-01T21:00:00Z')); // 06:00 in Tokyo
    const bench = aBench([chat], { at });
    bench.notifier.tell(aNotice({ kind: 'a', severity: 'warning', at }));
    bench.notifier.tell(aNotice({ kind: 'b', at }));
    await bench.pass(30 * MINUTE_MS);
    expect(chat.messages.map(({ sections }) => sections.map(({ kind }) => kind))).toEqual([['b']]);
    bench.notifier.tell(aNotice({ kind: 'c', severity: 'info', topic: 'fills', at }));
    await bench.pass(31 * MINUTE_MS);
    expect(chat.messages[1]?.sections.map(({ kind }) => kind)).toEqual(['a', 'c']);
  });

  it('receives a digest as a separate message', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice({ severity: 'warning' }));
    bench.notifier.tell(aNotice({ kind: 'digest', topic: 'digest', severity: 'info' }));
    await bench.pass(MINUTE_MS);
    expect(chat.messages.map(({ sections }) => sections.length)).toEqual([1, 1]);
  });

  it('holds a limited number of notices and drops the oldest of the least severe first, counting them', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 503');
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice({ kind: 'first', severity: 'critical' }));
    for (let n = 0; n < 600; n++) bench.notifier.tell(aNotice({ kind: `k${n}`, severity: n < 300 ? 'info' : 'warning' })); // prettier-ignore
    expect(bench.notifier.figures()).toMatchObject([{ waiting: 500, dropped: 101 }]);
    await bench.pass(2 * SECOND_MS);
    chat.fault = undefined;
    await bench.pass(MINUTE_MS);
    const kinds = chat.messages.flatMap(({ sections }) => sections.map(({ kind }) => kind));
    expect(kinds).toContain('first');
    expect(kinds).not.toContain('k0');
    expect(chat.messages[0]?.dropped).toBe(101);
    expect(chat.messages[1]?.dropped).toBe(0);
  });
});

describe('the delivery of a message', () => {
  it('is repeated at growing intervals with the same key until it succeeds', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 503');
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice());
    const times: number[] = [];
    for (let second = 0; second < 200; second++) {
      const before = chat.tried.length;
      await bench.pass(SECOND_MS);
      if (chat.tried.length > before) times.push(second);
    }
    const waits = times.slice(1).map((time, i) => time - (times[i] ?? 0));
    expect(waits.length).toBeGreaterThan(3);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBeGreaterThanOrEqual(5);
    chat.fault = undefined;
    await bench.pass(5 * MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
    expect(new Set(chat.tried.map(({ key }) => key)).size).toBe(1);
  });

  it('waits as long as the receiver requests', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 429', { waitMs: 2 * MINUTE_MS });
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice());
    await bench.pass(2 * SECOND_MS);
    chat.fault = undefined;
    await bench.pass(110 * SECOND_MS);
    expect(chat.tried).toHaveLength(1);
    await bench.pass(15 * SECOND_MS);
    expect(chat.messages).toHaveLength(1);
  });

  it('does not wait for a failing channel, which is reported once to the others after ten minutes', async () => {
    const [chat, mail] = [recordingChannel(), recordingChannel({ name: 'mail' })];
    chat.fault = new Undelivered('status 404');
    const bench = aBench([chat, mail]);
    bench.notifier.tell(aNotice());
    await bench.pass(2 * SECOND_MS);
    expect(mail.messages).toHaveLength(1);
    await bench.pass(40 * MINUTE_MS);
    expect(bench.failing).toEqual(['chat: status 404']);
    bench.notifier.take(
      anAlert(1, { alert: 'channel_failing', facts: { channel: 'chat', why: 'status 404' } }),
    );
    await bench.pass(MINUTE_MS);
    expect(mail.messages[1]?.title).toContain('has delivered nothing for ten minutes');
    expect(bench.notifier.figures()[0]).toMatchObject({ channel: 'chat', waiting: 1 });
  });

  it('is given up and counted after five refusals or one day', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 400', { isRefused: true });
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice());
    await bench.pass(10 * MINUTE_MS);
    expect(chat.tried).toHaveLength(5);
    expect(bench.notifier.figures()).toMatchObject([{ waiting: 0, dropped: 1 }]);
    expect(bench.warned).toEqual(['a message was dropped: its channel did not accept it']);
    chat.fault = new Undelivered('status 503');
    bench.notifier.tell(aNotice({ kind: 'b', at: after(NINE, 10 * MINUTE_MS) }));
    await bench.pass(25 * HOUR_MS);
    expect(bench.notifier.figures()).toMatchObject([{ waiting: 0, dropped: 2 }]);
  });

  it('continues if a channel throws an unexpected error', async () => {
    const chat = recordingChannel({ send: async () => await Promise.reject(new TypeError('secret inside')) });
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice());
    await bench.pass(15 * MINUTE_MS);
    expect(JSON.stringify(bench.failing)).not.toContain('secret');
    expect(bench.notifier.figures()).toMatchObject([{ dropped: 1 }]);
  });

  it('continues if the clock is set back', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.notifier.tell(aNotice({ severity: 'warning' }));
    bench.clock.stepWall(-DAY_MS);
    await bench.pass(MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
  });
});

describe('the notifier after a restart', () => {
  it('delivers each pending notice once, with the key of the previous attempt', async () => {
    const chat = recordingChannel();
    const first = aBench([chat]);
    first.notifier.tell(aNotice({ kind: 'delivered' }));
    await first.pass(3 * SECOND_MS);
    chat.fault = new Undelivered('status 503');
    first.notifier.tell(aNotice({ kind: 'under way' }));
    await first.pass(2 * SECOND_MS);
    first.notifier.tell(aNotice({ kind: 'waits', severity: 'info' }));
    await first.pass(2 * SECOND_MS);
    first.kill();
    chat.fault = undefined;
    const second = aBench([chat], { outbox: first.outbox, at: after(NINE, HOUR_MS) });
    await second.pass(MINUTE_MS);
    const kinds = chat.messages.map(({ sections }) => sections.map(({ kind }) => kind));
    expect(kinds).toEqual([['delivered'], ['under way'], ['waits']]);
    expect(chat.messages[1]?.key).toBe(chat.tried[1]?.key);
    expect(new Set(chat.messages.map(({ key }) => key)).size).toBe(3);
  });

  it('delivers records that the previous process did not process, if they are less than a day old', async () => {
    const chat = recordingChannel();
    const first = aBench([chat]);
    first.notifier.take(anAlert(1));
    await first.pass(2 * SECOND_MS);
    first.kill();
    const past = [anAlert(1), anAlert(2, {}, after(NINE, -2 * DAY_MS)), anAlert(3, { alert: 'halted', severity: 'critical' })]; // prettier-ignore
    const second = aBench([chat], { outbox: first.outbox, past, at: after(NINE, MINUTE_MS) });
    await second.pass(2 * MINUTE_MS);
    expect(chat.messages.map(({ sections }) => sections.map(({ kind, count }) => [kind, count]))).toEqual([
      [['halted', 1], ['limit_refused', 1]],
    ]); // prettier-ignore
  });

  it('sends no notices of past records when it starts for the first time', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat], { past: [anAlert(1), anAlert(2)] });
    await bench.pass(2 * MINUTE_MS);
    expect(chat.messages).toEqual([]);
  });

  it('discards notices for a channel that no longer exists', async () => {
    const [gone, chat] = [recordingChannel({ name: 'gone' }), recordingChannel()];
    const first = aBench([gone, chat]);
    first.notifier.tell(aNotice({ severity: 'info' }));
    await first.pass(2 * SECOND_MS);
    first.kill();
    const second = aBench([chat], { outbox: first.outbox });
    await second.pass(2 * MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
    expect(second.outbox.load().rows).toEqual([]);
  });
});

describe('the notifier during an order', () => {
  it('delays its writes until the order has ended, for at most three seconds', async () => {
    const chat = recordingChannel();
    const saves: number[] = [];
    const outbox = memoryOutbox();
    const bench = aBench([chat], {
      outbox: {
        load: () => outbox.load(),
        save: (change) => saves.push(bench.clock.now()) > 0 && outbox.save(change),
      },
    });
    await bench.pass(SECOND_MS);
    saves.length = 0;
    bench.orders.areUnderWay = true;
    bench.notifier.tell(aNotice());
    await bench.pass(3 * SECOND_MS);
    expect([saves.length, chat.messages.length]).toEqual([0, 0]);
    await bench.pass(SECOND_MS);
    expect([saves.length, chat.messages.length]).toEqual([1, 1]);
  });
});

describe('the notifier with a failing disk', () => {
  it('delivers notices from memory if the outbox cannot be saved', async () => {
    const chat = recordingChannel();
    const full: OutboxPort = { load: () => ({ rows: [], notes: new Map() }), save: () => false };
    const bench = aBench([chat], { outbox: full });
    bench.notifier.take(anAlert(1, { alert: 'disk_full', severity: 'critical' }));
    await bench.pass(5 * SECOND_MS);
    expect(chat.messages).toHaveLength(1);
  });

  it('tries to save only once and warns once if the disk fails', async () => {
    let asked = 0;
    const chat = recordingChannel();
    const broken: OutboxPort = {
      load: () => ({ rows: [], notes: new Map() }),
      save() {
        asked++;
        throw new Error('disk I/O error');
      },
    };
    const bench = aBench([chat], { outbox: broken });
    bench.notifier.take(anAlert(1));
    await bench.pass(2 * MINUTE_MS);
    expect([asked, bench.warned.length, chat.messages.length]).toEqual([1, 1, 1]);
  });
});

describe('the notifier at the end of the process', () => {
  it('sends the waiting notices immediately and saves its position', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.notifier.take(anAlert(7));
    bench.kill();
    await bench.notifier.close();
    expect(chat.messages).toHaveLength(1);
    expect(bench.outbox.load()).toMatchObject({ rows: [], notes: new Map([['seen', '7'], ['next_id', '2']]) }); // prettier-ignore
  });
});
