import { describe, expect, it } from 'vitest';
import { presetModel } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import { outages } from '../../src/research/run/run.ts';
import type { FillRecord, RecordBody } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { START } from '../engine/harness.ts';
import { aRun, walkTape } from './bench.ts';
import type { Ran } from './bench.ts';
import { everyKind } from './every-kind.ts';

/** A second implementation of the model, in integers of 10^-24, from tape and settings alone, without code of the venue. */

const ONE = 10n ** 24n;
const tapes = [
  walkTape({ pair: 'btcusd', rows: 180, startPrice: 60_000, volatility: 0.0015 }),
  walkTape({ pair: 'ethusd', rows: 180, startPrice: 3_000, volatility: 0.003, startsAt: START + 20_000 }),
  walkTape({ pair: 'ethbtc', rows: 720, startPrice: 0.05, volatility: 0.0005, barMs: 15 * SECOND_MS }),
];
const DECIMALS = new Map([
  ['btcusd', 2],
  ['ethusd', 2],
  ['ethbtc', 8],
]);

function exact(text: string): bigint {
  const [whole = '', part = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole) * ONE + BigInt(part.padEnd(24, '0'));
  return text.startsWith('-') ? -value : value;
}
function closeAt(pair: string, at: number): bigint {
  const tape = tapes.find((one) => one.pair === pair);
  const row = tape?.times.findLastIndex((time) => time + tape.barMs <= at) ?? -1;
  return exact(String(tape?.close[row]));
}
function rounded(value: bigint, decimals: number, way: 'up' | 'down'): bigint {
  const unit = 10n ** BigInt(24 - decimals);
  return ((value + (way === 'up' ? unit - 1n : 0n)) / unit) * unit;
}

type Intent = RecordBody & { kind: 'intent' };
type Quote = RecordBody & { kind: 'quote' };

function usdOf({ pair, by, size }: Intent, at: number): number {
  const amount = by === 'amount' ? exact(size) : (closeAt(pair, at) * exact(size)) / ONE;
  const usd = pair.endsWith('usd') ? amount : (amount * closeAt('btcusd', at)) / ONE;
  return Number(usd) / Number(ONE);
}

function priceOf(intent: Intent, at: number, model: ExecutionModel): bigint {
  const impact = Number((model.impactBps * Math.sqrt(usdOf(intent, at) / 1_000_000)).toFixed(6));
  const millionths = BigInt(Math.round((model.halfSpreadBps + impact) * 1_000_000));
  const mid = closeAt(intent.pair, at);
  const away = (mid * millionths) / 10_000_000_000n;
  const decimals = DECIMALS.get(intent.pair) ?? 0;
  return intent.side === 'buy' ? rounded(mid + away, decimals, 'up') : rounded(mid - away, decimals, 'down');
}

/** Compares records with the plain model and describes each difference. */
class Checker {
  readonly faults: string[] = [];
  quotes = 0;
  fills = 0;
  readonly #model: ExecutionModel;
  readonly #isOut: (at: number) => boolean;
  readonly #intents = new Map<string, Intent>();
  readonly #quotes = new Map<string, Quote>();
  readonly #held: Map<string, bigint>;

  constructor(model: ExecutionModel, seed: string, holdings: Readonly<Record<string, string>>) {
    this.#model = model;
    this.#isOut = outages(model, seed);
    this.#held = new Map(Object.entries(holdings).map(([currency, amount]) => [currency, exact(amount)]));
  }

  take(at: number, body: RecordBody): void {
    if (body.kind === 'intent') this.#intents.set(body.client_order_id, body);
    if (body.kind === 'quote') this.#quote(at, body);
    if (body.kind === 'fill') this.#fill(at, body);
    if (body.kind === 'attempt' && body.reason === 'quotes_unavailable')
      this.#expect(this.#isOut(at - this.#model.quoteLatencyMs / 2), `refused at ${at} outside of an outage`);
  }

  /** Compares the final balances of the account with the expected ones, by currency. */
  end(ran: Ran): void {
    const account = ran.exchange.accounts[0]?.name ?? '';
    const paid = ran.exchange.interest(account, ran.clock.wall());
    for (const { currency, amount } of paid.ok ? paid.value : [])
      this.#move(currency, -exact(amount.toFixed()));
    const held = ran.exchange.balances(account);
    for (const { currency, balance } of held.ok ? held.value : [])
      this.#expect(exact(balance.toFixed()) === this.#held.get(currency), `${currency} held`);
  }

  #quote(at: number, quote: Quote): void {
    this.quotes++;
    this.#quotes.set(quote.client_order_id, quote);
    const intent = this.#intents.get(quote.client_order_id);
    if (intent === undefined) throw new Error('a quote without an intent');
    const then = quote.quoted_at ?? Number.NaN;
    const wanted = priceOf(intent, then, this.#model);
    this.#expect(exact(quote.price) === wanted, `price ${quote.price} at ${then}, not ${wanted}`);
    this.#expect(usdOf(intent, then) <= Number(this.#model.maxUsd), `above the maximum at ${then}`);
    this.#expect(!this.#isOut(then), `quoted in an outage at ${then}`);
    this.#expect(at - then === this.#model.quoteLatencyMs / 2, `answered ${at - then} ms after ${then}`);
    this.#expect(quote.life_ms === this.#model.quoteLifeMs, `life at ${then}`);
  }

  #fill(at: number, { client_order_id: id, pair, side, ...fill }: FillRecord): void {
    this.fills++;
    const { lastLookBps, feeBps, orderLatencyMs, quoteLifeMs } = this.#model;
    const quote = this.#quotes.get(id);
    const then = quote?.quoted_at ?? Number.NaN;
    const arrived = at - orderLatencyMs / 2;
    this.#expect(quote?.price === fill.price, `another price at ${at}`);
    this.#expect(arrived < then + quoteLifeMs, `filled after its life at ${at}`);
    const [was, now] = [Number(closeAt(pair, then)), Number(closeAt(pair, arrived))];
    const moved = (now / was - 1) * 10_000 * (side === 'buy' ? 1 : -1);
    this.#expect(lastLookBps === undefined || moved <= lastLookBps + 1e-6, `last look at ${at}`);
    const fee = (exact(fill.amount) * BigInt(Math.round(feeBps * 10))) / 100_000n;
    this.#expect(rounded(fee, fill.quote === 'usd' ? 2 : 8, 'up') === exact(fill.fees), `fee at ${at}`);
    const sign = side === 'buy' ? 1n : -1n;
    this.#move(fill.base, sign * exact(fill.quantity));
    this.#move(fill.quote, -sign * exact(fill.amount) - exact(fill.fees));
  }

  #move(currency: string, by: bigint): void {
    this.#held.set(currency, (this.#held.get(currency) ?? 0n) + by);
  }

  #expect(isSo: boolean, fault: string): void {
    if (!isSo) this.faults.push(fault);
  }
}

const venues: Readonly<Record<string, Partial<ExecutionModel>>> = {
  tight: { ...presetModel('tight'), maxUsd: '100000000' },
  small: {
    ...presetModel('normal'),
    maxUsd: '6000',
    unavailableShare: 0.1,
    feeBps: 7.3,
    quoteLatencyMs: 900,
    orderLatencyMs: 700,
    lastLookBps: 1,
  },
  bad: { ...presetModel('stressed'), rejectedShare: 0.1, unavailableMs: MINUTE_MS },
};

const cases = Object.keys(everyKind).flatMap((desk) =>
  Object.keys(venues).map((venue) => [desk, venue] as const),
);

describe('the quotes and fills of a backtest', () => {
  it.each(cases)(
    'match a plain calculation of the model: %s, %s venue',
    { timeout: 300_000 },
    (desk, venue) => {
      const { pts, strategies, holdings, policy } = everyKind[desk] ?? { strategies: [], holdings: {} };
      const model = { ...presetModel('normal'), ...venues[venue], ...(pts === undefined ? {} : { pts }) };
      const ran = aRun({
        tapes,
        strategies,
        holdings,
        policy: { ...policy, minimumOf: () => ({}) },
        model,
        seed: 'plain',
        nextPossible: solvedOver(tapes),
      });
      const checker = new Checker(model, 'plain', holdings);
      for (const { at, body } of ran.journal.read()) checker.take(at, body);
      checker.end(ran);
      expect(checker.faults).toEqual([]);
      expect(checker.fills).toBeGreaterThan(4);
      expect(checker.quotes).toBeGreaterThanOrEqual(checker.fills);
    },
  );
});
