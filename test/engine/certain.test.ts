import { NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { certain } from '../../src/core/cycle/proof.ts';
import { SECOND_MS } from '../../src/core/time.ts';
import type { AttemptEnd } from '../../src/engine/attempt/execute.ts';
import { record } from '../../src/engine/stages/record.ts';
import { aBench, aTwap } from './harness.ts';

/** What a read found before it was known that the order traded, and what arrives after that is known. */
const lateEnds = {
  'one read of its absence': 'doubt',
  'the proof of its absence': 'closed',
} as const;

describe('a doubt whose order is known to have traded', () => {
  it.each(Object.entries(lateEnds))('stays open although %s was found just before', (_, kind) => {
    const bench = aBench({
      strategies: [aTwap('t')],
      wrap: (venue) => ({ ...venue, order: () => NEVER }),
    });
    bench.start();
    const { desk } = bench;
    for (let n = 1; n < 60 && desk.state.doubts.length === 0; n++) bench.until(n * SECOND_MS);
    const [open] = desk.state.doubts;
    const phase = open && desk.account.doubts.get(open.intent.client_order_id);
    if (open === undefined || phase === undefined) throw new Error('no order is in doubt');
    const { intent } = open;
    const found: AttemptEnd =
      kind === 'doubt'
        ? { end: 'doubt', intent, phase: { ...phase, proof: { ...phase.proof, readsLeft: 1 } } }
        : {
            end: 'closed',
            intent,
            phase: {
              state: 'ended',
              result: 'absent',
              reason: 'proven_absent',
              detail: '',
              next: { do: 'again' },
            },
          };
    const ends = of<AttemptEnd[]>({ end: 'doubt', intent, phase: certain(phase) }, found);
    ends.pipe(record(desk, NEVER)).subscribe();
    expect(desk.account.doubts.get(intent.client_order_id)?.proof.proves).toBe('nothing');
    expect(desk.state.attempts.get(intent.client_order_id)?.doubt?.reason).toBe('certainly_traded');
  });
});
