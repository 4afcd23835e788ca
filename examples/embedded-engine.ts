/**
 * Embeds the engine in a program: one desk on virtual time, with a journal in memory, against the simulated exchange in the
 * same process. A TWAP of two hours takes a moment. Run: `npx node examples/embedded-engine.ts`
 */
import process from 'node:process';
import { NEVER, lastValueFrom } from 'rxjs';
import { loadConfig } from '../src/app/config/config.ts';
import { deskSettingsOf } from '../src/app/config/desk-settings.ts';
import { DAY_MS, after, instant, isoOf } from '../src/core/time.ts';
import type { FillRecord } from '../src/core/record.ts';
import { VirtualClock } from '../src/engine/time/virtual-clock.ts';
import { Desk } from '../src/engine/desk.ts';
import { noObserver } from '../src/engine/observer.ts';
import type { VenuePort } from '../src/engine/ports.ts';
import { runDesk } from '../src/engine/run.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { Exchange } from '../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../src/simulator/options/options.ts';
import { inProcessVenue } from '../src/simulator/port.ts';
import { seededRandom } from '../src/simulator/market/random.ts';
import { strategies } from '../src/strategy/registry.ts';

const START = instant(Date.UTC(2026, 0, 5));

/** Trades a TWAP at `venueOf` from start to end, and returns what it filled, as the journal has it. */
export async function tradeTwap(venueOf: (clock: VirtualClock) => VenuePort): Promise<readonly FillRecord[]> {
  const { config, hash } = loadConfig('config/paper.yaml', { cwd: process.cwd(), env: {}, now: START });
  const document = {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: { amount: '1', currency: 'btc' },
    duration: 'PT2H',
    slices: 8,
  };
  const kind = strategies.get('twap');
  if (kind === undefined) throw new Error('the registry has no twap');
  const twap = { id: 'my-twap', kind: 'twap', hash: 'my-twap-1', document, bound: kind.bind(document) };

  // The engine reaches the world through ports only: another program plugs in its own.
  const clock = new VirtualClock(START);
  const journal = memoryJournal();
  const ports = { clock, random: seededRandom('example'), venue: venueOf(clock), journal, operator$: NEVER };
  const policy = deskSettingsOf(config, { configHash: hash, adoptFills: false });
  const desk = new Desk(ports, policy, noObserver, [twap]);

  // Ends by itself once the strategy has finished. On virtual time everything happens within `clock.run`.
  const ended = lastValueFrom(runDesk(desk, { isUntilDone: true }));
  clock.run(after(START, DAY_MS));
  await ended;
  return [...journal.read()].flatMap(({ body }) => (body.kind === 'fill' ? [body] : []));
}

export const wordsOf = ({ executed_at: at, quantity, price, amount }: FillRecord): string =>
  `${isoOf(at)}  bought ${quantity} btc at ${price} for ${amount} usd\n`;

if (import.meta.main) {
  const exchange = new Exchange({ options: venueOptions({}), startedAt: START });
  for (const fill of await tradeTwap((clock) => inProcessVenue(exchange, { clock })))
    process.stdout.write(wordsOf(fill));
}
