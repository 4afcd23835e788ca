import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryOutbox } from '../../../src/core/outbox.ts';
import type { OutboxPort } from '../../../src/core/outbox.ts';
import type { StoredRecord } from '../../../src/core/record.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { Undelivered } from '../../../src/operate/notify/channel.ts';
import type { Channel, Message } from '../../../src/operate/notify/channel.ts';
import { Notifier } from '../../../src/operate/notify/notifier.ts';
import { NINE } from './notices.ts';
import { recordingChannel } from './recording-channel.ts';

interface Bench {
  readonly notifier: Notifier;
  readonly clock: VirtualClock;
  readonly outbox: OutboxPort;
  readonly failing: string[];
  readonly warned: string[];
  take(...records: readonly StoredRecord[]): void;
  /** Lets time pass, second by second, so that sent messages arrive. */
  pass(ms: number): Promise<void>;
  kill(): void;
}

function aBench(
  channels: readonly Channel[],
  {
    outbox = memoryOutbox(),
    at = NINE,
    past = [],
  }: { readonly outbox?: OutboxPort; readonly at?: Instant; readonly past?: readonly StoredRecord[] } = {},
): Bench {
  const clock = new VirtualClock(at);
  const [failing, warned]: [string[], string[]] = [[], []];
  const notifier = new Notifier({
    desk: 'main',
    mode: 'paper',
    outbox,
    clock,
    random: { next: () => 0.5 },
    onFailing: (channel, why) => failing.push(`${channel}: ${why}`),
    warn: (text) => warned.push(text),
  });
  notifier.use(channels, 'https://desk.example');
  notifier.recover(past.at(-1)?.seq ?? 0, (seq, before = Infinity) =>
    past.filter((one) => one.seq > seq && one.seq < before),
  );
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
    warned,
    kill,
    take(...records) {
      for (const record of records) notifier.take(record);
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= SECOND_MS) {
        clock.run(after(instant(clock.now()), Math.min(left, SECOND_MS)));
        for (let turn = 0; turn < 4; turn++) await Promise.resolve();
      }
    },
  };
}

const anAlert = (seq: number, differs: object = {}, at: Instant = NINE): StoredRecord => {
  const body = {
    kind: 'alert',
    alert: 'limit_refused',
    severity: 'warning',
    facts: { n: seq },
    ...differs,
  } as const;
  return { seq, at, body, hash: '' };
};

const critical = (seq: number, differs: object = {}): StoredRecord =>
  anAlert(seq, { alert: 'halted', severity: 'critical', ...differs });
const kindsOf = ({ messages }: { readonly messages: readonly Message[] }): readonly string[] =>
  messages.map(({ kind }) => kind);

describe('a notification channel', () => {
  it('receives a message for each notice of its severities, the most severe first, and nothing twice', async () => {
    const [chat, some] = [recordingChannel(), recordingChannel({ name: 'some', severity: 'critical' })];
    const bench = aBench([chat, some]);
    bench.take(anAlert(1), critical(2), anAlert(3));
    await bench.pass(2 * SECOND_MS);
    expect(kindsOf(chat)).toEqual(['halted', 'limit_refused', 'limit_refused']);
    expect(kindsOf(some)).toEqual(['halted']);
    await bench.pass(5 * MINUTE_MS);
    expect(new Set(chat.messages.map(({ key }) => key)).size).toBe(3);
    expect(bench.outbox.load()).toBe('{"seen":3,"waiting":{"chat":[],"some":[]}}');
  });

  it('holds a limited number of notices and drops the oldest of the least severe first, counting them', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 503');
    const bench = aBench([chat]);
    bench.take(critical(1));
    for (let n = 2; n < 602; n++) bench.take(anAlert(n, { severity: n < 302 ? 'info' : 'warning' }));
    expect(bench.notifier.figures()).toMatchObject([{ waiting: 500, dropped: 101 }]);
    await bench.pass(2 * SECOND_MS);
    chat.fault = undefined;
    await bench.pass(10 * MINUTE_MS);
    // The channel accepts again with what was tried least; from then on, the most severe comes first.
    expect(kindsOf(chat)[1]).toBe('halted');
    expect(chat.messages).toHaveLength(500);
    expect(chat.messages.some(({ lines }) => lines.includes('n: 2'))).toBe(false);
  });
});

describe('the delivery of a message', () => {
  it('is repeated at growing intervals with the same key until it succeeds', async () => {
    const chat = recordingChannel();
    chat.fault = new Undelivered('status 503');
    const bench = aBench([chat]);
    bench.take(critical(1));
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

  it('does not wait for a failing channel, which is reported once to the others after ten minutes', async () => {
    const [chat, mail] = [recordingChannel(), recordingChannel({ name: 'mail' })];
    chat.fault = new Undelivered('status 404');
    const bench = aBench([chat, mail]);
    bench.take(critical(1));
    await bench.pass(2 * SECOND_MS);
    expect(mail.messages).toHaveLength(1);
    await bench.pass(40 * MINUTE_MS);
    expect(bench.failing).toEqual(['chat: status 404']);
    bench.take(anAlert(2, { alert: 'channel_failing', facts: { channel: 'chat', why: 'status 404' } }));
    await bench.pass(MINUTE_MS);
    expect(mail.messages[1]?.title).toContain('has delivered nothing for ten minutes');
    expect(bench.notifier.figures()[0]).toMatchObject({ channel: 'chat', waiting: 1 });
  });

  it('lets refused messages wait behind the others, and gives them up after a day', async () => {
    const chat = recordingChannel({
      async send(message) {
        if (message.kind === 'halted') throw new Undelivered('status 400');
        await Promise.resolve(chat.messages.push(message));
      },
    });
    const bench = aBench([chat]);
    // More than the channel tries in one round.
    const refused = [1, 2, 3, 4, 5];
    for (const seq of refused) bench.take(critical(seq));
    await bench.pass(10 * SECOND_MS);
    bench.take(anAlert(6));
    await bench.pass(MINUTE_MS);
    expect(kindsOf(chat)).toEqual(['limit_refused']);
    expect(bench.notifier.figures()).toMatchObject([{ waiting: refused.length, dropped: 0 }]);
    await bench.pass(25 * HOUR_MS);
    expect(bench.notifier.figures()).toMatchObject([{ waiting: 0, dropped: refused.length }]);
    expect(new Set(bench.warned)).toEqual(new Set(['a message was dropped: its channel did not accept it']));
  });

  it('continues if a channel throws an unexpected error', async () => {
    const chat = recordingChannel({ send: async () => await Promise.reject(new TypeError('secret inside')) });
    const bench = aBench([chat]);
    bench.take(critical(1));
    await bench.pass(15 * MINUTE_MS);
    expect(JSON.stringify(bench.failing)).not.toContain('secret');
    expect(bench.failing).toHaveLength(1);
  });

  it('continues if the clock is set back', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.take(anAlert(1));
    bench.clock.stepWall(-DAY_MS);
    await bench.pass(MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
  });
});

describe('the notifier after a restart', () => {
  it('delivers each pending notice once, with the key of the previous attempt', async () => {
    const chat = recordingChannel();
    const first = aBench([chat]);
    first.take(critical(1, { alert: 'venue_unreachable' }));
    await first.pass(3 * SECOND_MS);
    chat.fault = new Undelivered('status 503');
    first.take(critical(2));
    await first.pass(2 * SECOND_MS);
    first.take(anAlert(3));
    await first.pass(2 * SECOND_MS);
    first.kill();
    chat.fault = undefined;
    const past = [critical(1, { alert: 'venue_unreachable' }), critical(2), anAlert(3)];
    const second = aBench([chat], { outbox: first.outbox, past, at: after(NINE, HOUR_MS) });
    await second.pass(MINUTE_MS);
    expect(kindsOf(chat)).toEqual(['venue_unreachable', 'halted', 'limit_refused']);
    expect(chat.messages[1]?.key).toBe(chat.tried[1]?.key);
    expect(new Set(chat.messages.map(({ key }) => key)).size).toBe(3);
  });

  it('delivers records that the previous process did not process, if they are less than a day old', async () => {
    const chat = recordingChannel();
    const first = aBench([chat]);
    first.take(anAlert(1));
    await first.pass(2 * SECOND_MS);
    first.kill();
    const past = [anAlert(1), anAlert(2, {}, after(NINE, -2 * DAY_MS)), critical(3)];
    const second = aBench([chat], { outbox: first.outbox, past, at: after(NINE, MINUTE_MS) });
    await second.pass(2 * MINUTE_MS);
    expect(kindsOf(chat)).toEqual(['limit_refused', 'halted']);
  });

  it('sends no notices of past records when it starts for the first time', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat], { past: [anAlert(1), anAlert(2)] });
    await bench.pass(2 * MINUTE_MS);
    expect(chat.messages).toEqual([]);
  });

  it('discards notices for a channel that no longer exists', async () => {
    const [gone, chat] = [recordingChannel({ name: 'gone' }), recordingChannel()];
    [gone.fault, chat.fault] = [new Undelivered('status 503'), new Undelivered('status 503')];
    const first = aBench([gone, chat]);
    first.take(anAlert(1));
    await first.pass(2 * SECOND_MS);
    chat.fault = undefined;
    first.kill();
    const second = aBench([chat], { outbox: first.outbox, past: [anAlert(1)] });
    await second.pass(2 * MINUTE_MS);
    expect(chat.messages).toHaveLength(1);
    expect(second.outbox.load()).toBe('{"seen":1,"waiting":{"chat":[]}}');
  });
});

describe('the notifier with a failing disk', () => {
  it('delivers notices from memory if the outbox cannot be saved', async () => {
    const chat = recordingChannel();
    const full: OutboxPort = { load: () => undefined, save: () => false };
    const bench = aBench([chat], { outbox: full });
    bench.take(anAlert(1, { alert: 'disk_full', severity: 'critical' }));
    await bench.pass(5 * SECOND_MS);
    expect(chat.messages).toHaveLength(1);
  });

  it('tries to save only once and warns once if the disk fails', async () => {
    let asked = 0;
    const chat = recordingChannel();
    const broken: OutboxPort = {
      load: () => undefined,
      save() {
        asked++;
        throw new Error('disk I/O error');
      },
    };
    const bench = aBench([chat], { outbox: broken });
    bench.take(anAlert(1));
    await bench.pass(2 * MINUTE_MS);
    expect([asked, bench.warned.length, chat.messages.length]).toEqual([1, 1, 1]);
  });
});

describe('the notifier at the end of the process', () => {
  it('sends the waiting notices immediately and saves its position', async () => {
    const chat = recordingChannel();
    const bench = aBench([chat]);
    bench.take(anAlert(7));
    bench.kill();
    await bench.notifier.close();
    expect(chat.messages).toHaveLength(1);
    expect(bench.outbox.load()).toBe('{"seen":7,"waiting":{"chat":[]}}');
  });
});
