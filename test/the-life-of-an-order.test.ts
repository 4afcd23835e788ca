import { describe, expect, it } from 'vitest';
import { instant, MINUTE_MS } from '../src/core/time.ts';
import type { RecordBody } from '../src/core/record.ts';
import type { VenuePort } from '../src/engine/ports.ts';
import { faultyVenue } from './engine/faulty-venue.ts';
import type { OrderFault } from './engine/faulty-venue.ts';
import { aBench, aTwap, START } from './engine/harness.ts';
import type { Bench } from './engine/harness.ts';
import { ledgerTrades } from './engine/oracle.ts';

/*
 * One order from price to fill, through the whole engine on virtual time, against the simulated exchange. docs/architecture.md
 * tells the same story with links to the code. Each line of a story is `milliseconds what`: `>` leaves for the venue, `<` comes
 * back, and a line without an arrow is a record that became durable in the journal.
 */

interface Story {
  readonly bench: Bench;
  readonly lines: readonly string[];
}

/** Buys 0.2 btc in two slices, a minute apart. The venue answers after 20 ms; `fault` happens to the first order. */
function storyOf(fault?: OrderFault): Story {
  const lines: string[] = [];
  const tell = (line: string): void => {
    lines.push(`${bench.clock.wall() - START} ${line}`);
  };
  let orders = 0;
  const faulty = faultyVenue({ order: () => (orders === 1 ? fault : undefined) });
  const bench = aBench({
    strategies: [
      aTwap('twap', { total_quantity: { amount: '0.2', currency: 'btc' }, duration: 'PT2M', slices: 2 }),
    ],
    quoteLatencyMs: 20,
    orderLatencyMs: 20,
    wrap(venue, clock): VenuePort {
      const inner = faulty(venue, clock);
      return {
        ...inner,
        quote(request) {
          tell(request.clientId === undefined ? `> price? ${request.side}` : '> quote?');
          return inner.quote(request);
        },
        order(request) {
          orders += 1;
          tell('> order');
          return inner.order(request);
        },
        transactions(query) {
          tell('> account?');
          return inner.transactions(query);
        },
      };
    },
    observer: {
      quoted: (_pair, result) => {
        tell(`< ${result}`);
      },
      ordered: (_pair, result) => {
        tell(`< ${result}`);
      },
      record: ({ body }) => {
        tell(wordsOf(body));
      },
    },
  });
  bench.start();
  bench.clock.run(instant(START + 3 * MINUTE_MS));
  expect(bench.seen.error).toBeUndefined();
  return { bench, lines };
}

/** A record in a few words. */
function wordsOf(body: RecordBody): string {
  switch (body.kind) {
    case 'wake':
      return `wake on ${body.on}: ${body.intents.length} intents, waits for ${body.waits.map(({ on }) => on).join() || 'nothing'}`;
    case 'intent':
      return `intent ${body.side} ${body.size} at ${body.worst_price} or better`;
    case 'quote':
      return `quote ${body.quantity} at ${body.price}`;
    case 'fill':
      return `fill ${body.quantity} at ${body.price}, known by ${body.source}`;
    case 'attempt':
    case 'slice':
      return `${body.kind} ${body.result}`;
    default:
      return body.kind;
  }
}

/** The lines from the first that is `from` to the first after it that is `to`. */
function chapter({ lines }: Story, from: string, to: string): readonly string[] {
  const first = lines.indexOf(from);
  const last = lines.indexOf(to, first);
  if (first < 0 || last < 0) throw new Error(`no such chapter in\n${lines.join('\n')}`);
  return lines.slice(first, last + 1);
}

describe('an order from decision to fill', () => {
  const story = storyOf();

  it('starts with a read of the account before any price is requested', () => {
    expect(chapter(story, '0 started', '0 > price? buy')).toEqual([
      '0 started',
      '0 > account?',
      '0 balances',
      '0 strategy',
      '0 wake on start: 0 intents, waits for at',
      '0 > price? buy',
    ]);
  });

  it('is decided when a slot is due and a reference price is known, and recorded with the next waits', () => {
    expect(chapter(story, '0 > price? buy', '20 wake on at: 1 intents, waits for outcome')).toEqual([
      '0 > price? buy',
      '0 > price? sell',
      '20 < quote',
      '20 < quote',
      '20 wake on at: 1 intents, waits for outcome',
    ]);
  });

  it('is durable as an intent, with its worst price, while the quote is in flight', () => {
    expect(chapter(story, '20 > quote?', '40 < quote')).toEqual([
      '20 > quote?',
      '20 intent buy 0.1 at 60600.3939 or better',
      '40 < quote',
    ]);
  });

  it('is sent at the instant at which its quote passes the gate', () => {
    expect(chapter(story, '40 < quote', '60 < filled')).toEqual([
      '40 < quote',
      '40 > order',
      '40 quote 0.1 at 60035.76',
      '60 < filled',
    ]);
  });

  it('ends as a fill, an attempt and a slice, and its strategy receives the outcome in the next wake', () => {
    expect(chapter(story, '60 < filled', '60 wake on outcome: 0 intents, waits for at')).toEqual([
      '60 < filled',
      '60 fill 0.1 at 60035.76, known by order',
      '60 attempt filled',
      '60 slice filled',
      '60 wake on outcome: 0 intents, waits for at',
    ]);
  });

  it('is confirmed by the next read of the account', () => {
    expect(chapter(story, '60000 > account?', '60000 shown')).toEqual(['60000 > account?', '60000 shown']);
  });

  it('is followed by the next slice at its own slot, until the total is traded', () => {
    expect(story.lines.filter((line) => / (?:> order|fill .*)$/u.test(line))).toEqual([
      '40 > order',
      '60 fill 0.1 at 60035.76, known by order',
      '60040 > order',
      '60060 fill 0.1 at 60078.62, known by order',
    ]);
    expect(story.lines).toContain('60060 wake on outcome: 0 intents, waits for nothing');
  });
});

describe('an order whose answer is lost', () => {
  const story = storyOf('answer lost');

  it('becomes a doubt, is not sent again, and its strategy receives no outcome', () => {
    const waiting = chapter(story, '40 > order', '10040 fill 0.1 at 60035.76, known by transactions');
    expect(waiting).toContain('8040 < doubt');
    expect(waiting).toContain('8040 attempt doubt');
    expect(waiting.filter((line) => line.endsWith('> order'))).toEqual(['40 > order']);
    expect(waiting.filter((line) => line.includes('wake'))).toEqual([]);
  });

  it('ends as a fill when a read of the account shows its trade, and its strategy continues', () => {
    expect(
      chapter(
        story,
        '10040 fill 0.1 at 60035.76, known by transactions',
        '10040 wake on outcome: 0 intents, waits for at',
      ),
    ).toEqual([
      '10040 fill 0.1 at 60035.76, known by transactions',
      '10040 attempt filled',
      '10040 slice filled',
      '10040 wake on outcome: 0 intents, waits for at',
    ]);
  });

  it('is executed once: the ledger of the exchange has two trades for two slices', () => {
    expect(ledgerTrades(story.bench.exchange).map(({ quantity }) => quantity.toFixed())).toEqual([
      '0.1',
      '0.1',
    ]);
  });
});
