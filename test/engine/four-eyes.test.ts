import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { money, quantity } from '../../src/core/money.ts';
import type { OverrideRecord, UsedToken } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Command, CommandAnswer } from '../../src/engine/ports.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aPolicy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const machine: UsedToken = { name: 'local', kind: 'machine' };
const policy = { fourEyes: true };
const twap = aTwap('t', { slices: 4, duration: 'PT20M' });

function aDesk(over: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({ strategies: [twap], policy, ...over });
  bench.start();
  bench.clock.run(after(bench.clock.wall(), MINUTE_MS));
  return bench;
}

/** Gives a command with this token, and returns the answer given within a second. */
function tell(
  bench: Bench,
  token: UsedToken,
  command: { readonly do: 'rearm' } | { readonly do: 'approve'; readonly override: string } | Figures,
): CommandAnswer | undefined {
  let told: CommandAnswer | undefined;
  const by = token.name;
  const whole: Command = { ...command, by, why: 'w', token, answer: (answer) => (told = answer) };
  bench.operator$.next(whole);
  bench.clock.run(after(bench.clock.wall(), SECOND_MS));
  return told;
}

interface Figures {
  readonly do: 'resolve';
  readonly clientOrderId: string;
  readonly verdict: 'filled' | 'not_executed';
  readonly figures?: ReturnType<typeof figuresOf>;
}
const figuresOf = (orderId: string) => ({
  orderId,
  quantity: quantity('0.25'),
  amount: money('15000'),
  fees: money('0'),
});

const halt = (bench: Bench, isKill = false): void => {
  bench.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices', isKill });
};
const approve = (override = 'ov-1') => ({ do: 'approve', override }) as const;
const steps = (bench: Bench): readonly OverrideRecord[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));

describe('the four-eyes rule', () => {
  it('requires a second person for a rearm, and the journal stores the name and kind of both tokens', () => {
    const bench = aDesk();
    halt(bench);
    expect(tell(bench, person('ann'), { do: 'rearm' })).toMatchObject({
      isDone: true,
      says: 'ov-1 is proposed; another person must approve it within 15 min',
    });
    expect(bench.desk.control).toBe('halted');
    expect(tell(bench, person('ben'), approve())).toEqual({
      isDone: true,
      says: 'ov-1 is approved: the desk trades again',
    });
    expect(bench.desk.control).toBe('active');
    expect(steps(bench)).toMatchObject([
      { step: 'proposed', limit: 'halt', asks: 'lift the halt (wrong prices)', token: person('ann') },
      { step: 'approved', limit: 'halt', by: 'ben', token: person('ben') },
    ]);
    expect(steps(bench)[0]?.hash).toMatch(/^[0-9a-f]{64}$/u);
    expect(bench.records().at(-1)?.body).toMatchObject({
      kind: 'control',
      state: 'active',
      by: 'ann and ben',
    });
  });

  it('does not accept the machine token, a program or the proposer as the second person', () => {
    const bench = aDesk();
    halt(bench);
    tell(bench, person('ann'), { do: 'rearm' });
    for (const token of [machine, { name: 'bot', kind: 'program' } as const, person('ann')])
      expect(tell(bench, token, approve())?.isDone).toBe(false);
    expect(bench.desk.control).toBe('halted');
  });

  it('does not accept the machine token as the first person', () => {
    const bench = aDesk();
    halt(bench);
    expect(tell(bench, machine, { do: 'rearm' })?.says).toMatch(
      /^the token of this machine does not count as one of two people/u,
    );
    expect(steps(bench)).toEqual([]);
  });

  it('does not accept the approval of a rearm that has expired', () => {
    const bench = aDesk();
    halt(bench);
    tell(bench, person('ann'), { do: 'rearm' });
    bench.clock.run(after(bench.clock.wall(), 15 * MINUTE_MS));
    expect(tell(bench, person('ben'), approve())?.says).toBe('ov-1 has expired');
    expect(bench.desk.control).toBe('halted');
  });

  it('applies an approval only to the halt for which it was proposed', () => {
    const bench = aDesk();
    halt(bench);
    for (const name of ['ann', 'cat']) tell(bench, person(name), { do: 'rearm' });
    expect(tell(bench, person('ben'), approve('ov-1'))?.isDone).toBe(true);
    halt(bench);
    expect(tell(bench, person('ben'), approve('ov-2'))?.says).toBe(
      'the desk has changed since ov-2 was proposed: propose it again',
    );
    expect(bench.desk.control).toBe('halted');
  });

  it('requires a second person to resolve a doubt with figures, and the machine token does not count', () => {
    const down = new VenueError({ code: 'unavailable', applied: 'no', attempt: 'transactions', status: 503 });
    let orders = 0;
    const bench = aDesk({
      wrap: faultyVenue({
        order: () => (++orders === 1 ? 'answer lost' : undefined),
        transactions: (rows) => (orders === 0 ? rows : down),
      }),
    });
    bench.clock.run(after(START, 10 * MINUTE_MS));
    const [clientOrderId = ''] = bench.desk.state.attempts.keys();
    const filled = { do: 'resolve', clientOrderId, verdict: 'filled', figures: figuresOf('9') } as const;
    expect(tell(bench, person('ann'), filled)?.says).toMatch(/^ov-1 is proposed/u);
    const told = (): readonly unknown[] =>
      bench.records().filter(({ body }) => body.kind === 'fill' && body.source === 'operator');
    expect(steps(bench)[0]?.asks).toBe(`${clientOrderId} filled as 9: 0.25 for 15000, fees 0`);
    expect(tell(bench, machine, approve())?.isDone).toBe(false);
    expect(told()).toHaveLength(0);
    expect(tell(bench, person('ben'), approve())?.isDone).toBe(true);
    expect(told()).toHaveLength(1);
    const resolved = bench.records().find(({ body }) => body.kind === 'resolved')?.body;
    expect(resolved).toMatchObject({ by: 'ann and ben' });
  });

  it('lets a start with --rearm lift a kill only if two people agreed in the process before', () => {
    const first = aDesk();
    halt(first, true);
    first.clock.run(after(first.clock.wall(), SECOND_MS));
    first.kill();
    const { clock, exchange, journal } = first;
    const alone = aBench({ strategies: [twap], policy, clock, exchange, journal });
    alone.start({ rearm: 'I say so' });
    expect(String(alone.seen.error)).toContain('operate.four_eyes requires two people to agree');
    alone.kill();
    const second = aDesk({ clock, exchange, journal });
    tell(second, person('ann'), { do: 'rearm' });
    expect(tell(second, person('ben'), approve())?.says).toContain('tranche run --rearm');
    second.kill();
    const third = aBench({ strategies: [twap], policy, clock, exchange, journal });
    third.start({ rearm: 'two of us' });
    expect(third.seen.error).toBeUndefined();
    expect(third.desk.control).toBe('active');
  });

  it('lets one person re-arm if the config does not enable it', () => {
    const bench = aDesk({ policy: aPolicy() });
    halt(bench);
    expect(tell(bench, machine, { do: 'rearm' })?.says).toBe('the desk trades again');
  });
});
