import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/app/config/config.ts';
import type { Config } from '../../src/app/config/config.ts';
import { rehearsalOf } from '../../src/app/strategies/feasibility.ts';
import { listingOf } from '../../src/planning/listing.ts';
import { rehearse } from '../../src/planning/rehearse.ts';
import { readStrategies, worldOf } from '../../src/app/strategies/strategies.ts';
import type { LoadedStrategy } from '../../src/app/strategies/strategies.ts';
import { invariant } from '../../src/core/errors.ts';
import { decimalsOf, price, quantity, text } from '../../src/core/money.ts';
import { after, HOUR_MS, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import { START } from '../engine/harness.ts';
import { aVenue } from '../simulator/client.ts';
import { aSharedFolder, put } from '../support/folder.ts';
import { aDesk, ofCheck } from './support/plan.ts';

/** Compares the sizes that `validate` accepts with those that the desk decides in `plan`. */

interface Asked {
  /** Of `venue.minimums.pairs.btcusd`. */
  readonly minimum: string;
  /** Decimals of btc at the venue. */
  readonly precision?: number;
  readonly strategy: string;
}

const folder = aSharedFolder();

function configOf({ minimum, precision = 8 }: Omit<Asked, 'strategy'>): Config {
  put(folder, {
    'desk.yaml': `desk: main
mode: paper
venue:
  sell_path: /v1/orders/sell
  minimums: { pairs: { btcusd: ${minimum} } }
  simulated:
    accounts: [{ name: main, balances: { usd: '100000000', btc: '100000' } }]
    currencies: { btc: { precision: ${precision} } }
    pairs: { btcusd: { start_price: '100' } }
controls:
  max_order_notional: { amount: '90000000', currency: usd }
  max_day_notional: { amount: '900000000', currency: usd }
  max_executions_per_minute: 1000
journal: 'sqlite:./none.db'
strategies: ./one.yaml
`,
  });
  const { loaded, problems } = readConfig('desk.yaml', { env: {}, cwd: folder, now: START });
  if (loaded === undefined) throw new Error(JSON.stringify(problems));
  return loaded.config;
}

function validated(asked: Asked): {
  readonly config: Config;
  readonly strategy: LoadedStrategy | undefined;
  readonly problems: readonly string[];
} {
  put(folder, { 'one.yaml': asked.strategy });
  const config = configOf(asked);
  const files = [join(folder, 'one.yaml')];
  const { strategies, problems } = readStrategies(files, config, { env: {}, cwd: folder });
  return { config, strategy: strategies[0], problems: problems.map(({ message }) => message) };
}

const FROM = after(START, 2 * MINUTE_MS);

interface Decided {
  readonly finished: string | undefined;
  /** Sizes by parent and slice. */
  readonly sizes: ReadonlyMap<string, string>;
}

/** Decisions of the desk in a plan with enough funds. */
function decided(config: Config, strategy: LoadedStrategy): Decided {
  const { balances } = config.venue.simulated?.accounts[0] ?? {};
  const facts = {
    prices: new Map([['btcusd', { mid: price('100'), from: 'the test' }]]),
    precisions: new Map<string, number>(),
    funds: {
      balances: new Map(Object.entries(balances ?? {}).map(([name, held]) => [name, quantity(held)])),
      from: 'the test',
    },
  };
  const setup = rehearsalOf(config, {
    strategies: [strategy],
    facts,
    from: FROM,
    until: after(FROM, 3 * HOUR_MS),
  });
  const [one] = listingOf(rehearse(setup)).strategies;
  const sizes = (one?.slices ?? []).map(
    ({ intent }) => [`${intent.leg} ${intent.slice}`, intent.size] as const,
  );
  return { finished: one?.finished?.reason, sizes: new Map(sizes) };
}

const twap = (more: string): string => `id: one
kind: twap
pair: btcusd
side: buy
duration: PT1H
${more}
`;

describe('the lot size of the venue', () => {
  it('rejects a total that is not a multiple of it and suggests the nearest valid totals', () => {
    const of = (total: string, slices = 6): readonly string[] =>
      validated({
        minimum: "{ lot: '0.001' }",
        strategy: twap(`total_quantity: { amount: '${total}', currency: btc }\nslices: ${slices}`),
      }).problems;
    const lots = 'cannot be traded, quantities of btcusd are multiples of its lot of 0.001: write';
    expect(of('0.0145')).toEqual([`0.0145 btc ${lots} 0.014 btc or 0.015 btc`]);
    expect(of('0.0035')).toEqual([`0.0035 btc ${lots} 0.006 btc`]);
    expect(of('0.002')).toEqual([
      '0.002 btc in 6 slices: the smallest is 0 btc; at most 2 slices are possible, or write total_quantity: 0.006 btc or more',
    ]);
    expect(of('0.002', 2)).toEqual([]);
    expect(of('0.014')).toEqual([]);
    expect(of('0.0140')).toEqual([]);
  });

  it('gives six slices sizes that are multiples of it', () => {
    const { config, strategy, problems } = validated({
      minimum: "{ lot: '0.001' }",
      strategy: twap("total_quantity: { amount: '0.014', currency: btc }\nslices: 6"),
    });
    expect(problems).toEqual([]);
    invariant(strategy !== undefined, 'it is usable');
    const sizes = ['0.002', '0.002', '0.002', '0.002', '0.002', '0.004'];
    expect([...decided(config, strategy).sizes.values()]).toEqual(sizes);
  });
});

/** A random document, whose kinds differ in the line that states the size. */
interface Drawn extends Required<Asked> {
  readonly kind: string;
}

const KINDS = ['twap', 'vwap', 'shortfall', 'recurring', 'limit'] as const;

const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    side: fc.constantFrom('buy', 'sell'),
    isBase: fc.boolean(),
    units: fc.oneof(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 9_999_999 })),
    decimals: fc.integer({ min: 0, max: 6 }),
    lot: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
    precision: fc.integer({ min: 2, max: 8 }),
    least: fc.option(fc.constantFrom('0.001', '0.0022', '0.05', '1', '7.5'), { nil: undefined }),
    slices: fc.integer({ min: 1, max: 12 }),
    jitter: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    catchUp: fc.constantFrom('pace', 'skip'),
    seed: fc.nat(1_000),
  })
  .map(({ kind, side, isBase, units, decimals, lot, precision, least, slices, jitter, catchUp, seed }) => {
    const amount = text(quantity(`${units}e-${decimals}`));
    const [unit, fields] = isBase ? ['btc', 'quantity'] : ['usd', 'notional'];
    const sized = (of: string): string => `${of}_${fields}: { amount: '${amount}', currency: ${unit} }`;
    const minimum = [
      ...(lot === undefined ? [] : [`lot: '${text(quantity(`1e-${lot}`))}'`]),
      ...(least === undefined ? [] : [`${fields}: '${least}'`]),
    ];
    const head = `id: one\nkind: ${kind}\npair: btcusd\nside: ${side}\n`;
    const moved = jitter === undefined ? '' : `jitter: { time_pct: 0, size_pct: ${jitter}, seed: ${seed} }\n`;
    const window = `start_time: '${isoOf(FROM)}'\nduration: PT1H\nslices: ${slices}\ncatch_up: ${catchUp}\n${sized('total')}\n`;
    const bodies: Readonly<Record<(typeof KINDS)[number], string>> = {
      twap: window,
      vwap: `${window}profile: { weights: [${Array.from({ length: 48 }, (_, n) => 1 + ((n * 7 + seed) % 11)).join(', ')}] }\n`,
      shortfall: `${window}risk_aversion: ${seed / 100}\nvolatility: '0.8'\nimpact: { bps: 5, per_hour: { amount: '${amount}', currency: ${unit} } }\n`,
      recurring: `${sized('each')}\nschedule: { cron: '7 * * * *' }\nwindow: PT30M\nslices: ${slices}\ncatch_up: ${catchUp}\n`,
      limit: `${sized('total')}\nlimit_price: '${side === 'buy' ? '101' : '99'}'\nmax_slice_${fields}: { amount: '${text(quantity(`${Math.ceil(units / slices)}e-${decimals}`))}', currency: ${unit} }\n`,
    };
    return {
      kind,
      minimum: `{ ${minimum.join(', ')} }`,
      precision,
      strategy: `${head}${bodies[kind]}${moved}`,
    };
  });

/** The sizes that a message suggests. */
const fixesIn = (message: string): readonly string[] =>
  /cannot be traded.*: write (?<sizes>[^;]*)$/u.exec(message)?.groups?.['sizes']?.match(/\d+(?:\.\d+)?/gu) ??
  [];

interface Compared {
  readonly faults: readonly string[];
  readonly isUsable: boolean;
  readonly compared: number;
}

/** Differences between the desk and the rules of the venue for a document that `validate` accepts. */
function compare(one: Drawn): Compared {
  const { config, strategy, problems } = validated(one);
  if (strategy === undefined)
    return { faults: problems.length > 0 ? [] : ['no reason'], isUsable: false, compared: 0 };
  const ran = decided(config, strategy);
  const { basePrecision = 0, quotePrecision = 0 } = worldOf(config).precisions('btcusd');
  const isBase = one.strategy.includes('_quantity:');
  const { quantity: leastBase, notional } = config.venue.minimums.pairs.get('btcusd') ?? {};
  const [precision, least] = isBase ? [basePrecision, leastBase] : [quotePrecision, notional];
  const faults: string[] = [];
  if (ran.finished === 'invalid_plan') faults.push('the desk refuses it');
  if (ran.sizes.size === 0) faults.push('the desk decides nothing');
  for (const [name, size] of ran.sizes) {
    if (decimalsOf(quantity(size)) > precision) faults.push(`${name}: ${size} has too many decimals`);
    if (least !== undefined && quantity(size).lt(least)) faults.push(`${name}: ${size} is below the minimum`);
  }
  return { faults, isUsable: true, compared: ran.sizes.size };
}

describe('the precision of a currency at the venue', () => {
  it('makes the plan refuse a total that the desk would refuse at its start', async () => {
    await using venue = await aVenue({ accounts: [{ name: 'desk', balances: { usd: '50000', btc: '2' } }] });
    const strategies = twap("total_quantity: { amount: '0.123456789', currency: btc }\nslices: 4");
    const { plan } = aDesk({
      config: `mode: dry_run\nvenue: { base_url: "${venue.baseUrl}", capabilities: { balances: true } }\n`,
      strategies,
      token: venue.tokens[0] ?? '',
    });
    const says = 'the total has more decimals than btc has (8)';
    const refused = ofCheck(await plan('--json'), 'minimum').filter(({ verdict }) => verdict === 'refused');
    expect(refused).toMatchObject([{ says }]);
  });
});

describe('validate and the desk', () => {
  it('agree on every size for random desks and strategies', () => {
    const seen = { usable: 0, refused: 0, compared: 0 };
    fc.assert(
      fc.property(drawn, (one) => {
        const { faults, isUsable, compared } = compare(one);
        seen.usable += isUsable ? 1 : 0;
        seen.refused += isUsable ? 0 : 1;
        seen.compared += compared;
        expect(faults).toEqual([]);
      }),
      { numRuns: 150, seed: 15 },
    );
    expect(seen.usable).toBeGreaterThan(40);
    expect(seen.refused).toBeGreaterThan(30);
    expect(seen.compared).toBeGreaterThan(150);
  });

  it('suggest valid sizes if a size has too many decimals', () => {
    let fixed = 0;
    fc.assert(
      fc.property(drawn, (one) => {
        for (const fix of validated(one).problems.flatMap(fixesIn)) {
          fixed++;
          const strategy = one.strategy.replace(
            /(?<field>(?:total|each)_\w+: \{ amount: )'[^']*'/u,
            `$<field>'${fix}'`,
          );
          const { problems } = validated({ ...one, strategy });
          // The pieces of a limit have a field of their own.
          const wrong = problems.filter((said) => one.kind !== 'limit' || said.includes('cannot be traded'));
          expect(wrong).toEqual([]);
        }
      }),
      { numRuns: 150, seed: 16 },
    );
    expect(fixed).toBeGreaterThan(20);
  });
});
