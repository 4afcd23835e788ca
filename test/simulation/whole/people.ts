import type { Subject } from 'rxjs';
import { money, quantity } from '../../../src/core/money.ts';
import { after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Desk } from '../../../src/engine/desk.ts';
import type { Command, StrategiesPort } from '../../../src/engine/ports.ts';
import type { StrategySource } from '../../../src/engine/state/strategy-source.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { aStrategy } from '../../engine/harness.ts';
import type { Chance } from '../chance.ts';
import { EPOCH } from './draws.ts';
import { shown } from './exact.ts';
import type { Flight } from './network.ts';
import type { Setting } from './setting.ts';
import type { Event } from './weather.ts';
import type { Witness } from './witness.ts';

export interface PeopleOptions {
  /** Where they live. */
  readonly world: {
    readonly truth: VirtualClock;
    readonly setting: Setting;
    readonly witness: Witness;
    readonly probes: Set<string>;
  };
  readonly chance: Chance;
  readonly exchange: Exchange;
  readonly operator$: Subject<Command>;
  /** The desk of the process that runs. */
  readonly desk: () => Desk | undefined;
}

const BY = { by: 'ann', why: 'weather' } as const;
const STORM = 6;
/** Somebody looks at the doubts so often, and so many times. */
const LOOK = { everyMs: 7_000, times: 6 } as const;
/** A request to which one of these happened never reaches the venue. */
const NEVER_ARRIVES: ReadonlySet<string | undefined> = new Set([
  'request lost',
  'gateway error before',
  'rate limited before',
  'redirect',
]);

/** What people do while a desk trades: they edit its strategies, pay in and out, end doubts, pause and resume. */
export class People {
  readonly strategies: StrategiesPort = {
    read: () => ({ sources: this.#sources, off: [], notes: [] }),
    revive: ({ strategy, hash, type, document }) => {
      const { id: _, kind: __, ...params } = document as Record<string, unknown>;
      return { ...aStrategy(strategy, type, params), hash };
    },
  };
  readonly #options: PeopleOptions;
  /** As their files say it now. */
  #sources: readonly StrategySource[];

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#sources = options.world.setting.strategies;
  }

  /** Whoever starts a desk has put its files right. */
  starts(): void {
    this.#sources = this.#options.world.setting.strategies;
  }

  /** From here on everybody leaves it alone, and what was edited or stopped is put back. */
  heal(): void {
    if (this.#sources !== this.#options.world.setting.strategies)
      this.#reload(this.#options.world.setting.strategies);
  }

  /** Lifts what they did to the desk, or to a strategy of it. */
  resume({ control, state }: Desk): void {
    const { operator$, world } = this.#options;
    if (control === 'reducing') operator$.next({ do: 'resume', ...BY });
    for (const { id } of world.setting.strategies)
      if (state.totals.strategyPausedWhy(id) !== undefined)
        operator$.next({ do: 'resume', ...BY, strategy: id });
  }

  /** False: it is not theirs. */
  happens({ kind, lengthMs, value }: Event): boolean {
    const { exchange, operator$, world } = this.#options;
    const { truth, setting, probes } = world;
    const strategy = this.#one(value).id;
    switch (kind) {
      case 'reload edited':
      case 'reload stopped':
        this.#unlessHealed(1, () => {
          this.#reload(kind === 'reload edited' ? this.#edited(value) : this.#without(value));
        });
        this.#unlessHealed(value < 0.3 ? 1_500 * value : lengthMs, () => {
          this.#reload(setting.strategies);
        });
        return true;
      case 'reload storm':
        for (let i = 0; i < STORM; i++) {
          this.#unlessHealed(1 + i * 400 * value, () => {
            this.#reload(i % 2 === 1 ? setting.strategies : value < 0.5 ? this.#without(value) : this.#edited(value));
          });
        }
        return true;
      case 'paid in':
      case 'paid out': {
        const now = instant(EPOCH + truth.now() + setting.venueSkewMs);
        // Some of what is paid in may not be spent yet, and would pay for much.
        const isHeld = kind === 'paid in' && value % 0.5 < 0.25;
        const heldUntil = isHeld ? after(now, 2 * lengthMs) : undefined;
        const size = value < 0.5 ? (isHeld ? '23456.5' : '1234.5') : '0.25';
        const amount = quantity(`${kind === 'paid in' ? '' : '-'}${size}`);
        exchange.deposit('desk', value < 0.5 ? 'usd' : 'btc', amount, now, heldUntil);
        if (heldUntil !== undefined) probes.add('a deposit was held');
        probes.add('money was paid in or out');
        return true;
      }
      case 'resolve':
        for (let i = 0; i < LOOK.times; i++) {
          this.#unlessHealed(i * LOOK.everyMs, () => {
            this.#resolve();
          });
        }
        return true;
      case 'pause with an end':
        operator$.next({ do: 'pause', ...BY, forMs: Math.floor(Math.min(lengthMs, 20_000)) });
        return true;
      case 'reducing':
        operator$.next({ do: 'pause', ...BY, isReducing: true });
        return true;
      case 'pause of a strategy':
        operator$.next({ do: 'pause', ...BY, strategy });
        this.#unlessHealed(Math.min(lengthMs, 15_000), () => {
          operator$.next({ do: 'resume', ...BY, strategy });
        });
        return true;
      default:
        return false;
    }
  } // prettier-ignore

  #unlessHealed(ms: number, then: () => void): void {
    this.#options.world.truth.push(ms, () => {
      if (!this.#options.chance.isHealed) then();
    });
  }

  #one(value: number): StrategySource {
    const { strategies } = this.#options.world.setting;
    const found = strategies[Math.floor(value * 97) % strategies.length];
    if (found === undefined) throw new RangeError('there are no strategies');
    return found;
  }

  #reload(sources: readonly StrategySource[]): void {
    const { operator$, world, desk } = this.#options;
    if (desk() === undefined) return;
    this.#sources = sources;
    const answer = ({ isDone, says }: { readonly isDone: boolean; readonly says: string }): void => {
      world.witness.note(`reload: ${says}`);
      if (isDone) this.#told(sources);
    };
    operator$.next({ do: 'reload', ...BY, answer });
  }

  #told(sources: readonly StrategySource[]): void {
    const { setting, probes } = this.#options.world;
    if (sources.length < setting.strategies.length) probes.add('a strategy was stopped by a reload');
    else if (sources !== setting.strategies) probes.add('a strategy was edited as it ran');
  }

  #without(value: number): readonly StrategySource[] {
    const gone = this.#one(value);
    return this.#options.world.setting.strategies.filter((each) => each !== gone);
  }

  /** Another text of a strategy that runs: one that has ended would begin anew with it, and trade its total again. */
  #edited(value: number): readonly StrategySource[] {
    const { world, desk } = this.#options;
    const { setting } = world;
    const one = this.#one(value);
    const life = desk()?.state.lives.get(one.id);
    if (life === undefined || life.finished !== undefined || life.state === undefined) return setting.strategies;
    const { id, kind, ...rest } = one.document as Record<string, unknown>;
    if (typeof id !== 'string' || (kind !== 'twap' && kind !== 'limit')) return setting.strategies;
    const change = kind === 'limit' ? { margin_bps: 1 } : { catch_up: rest['catch_up'] === 'skip' ? 'pace' : 'skip' };
    const edited = aStrategy(id, kind, { ...rest, ...change });
    return setting.strategies.map((each) => (each === one ? edited : each));
  } // prettier-ignore

  /** Somebody who knows the truth, once nothing of the order can reach the venue any more. */
  #resolve(): void {
    const { world, chance, operator$, desk } = this.#options;
    const { witness, probes } = world;
    for (const [clientOrderId] of desk()?.account.doubts ?? []) {
      if (witness.sent.get(clientOrderId)?.flights.some(mayArrive) === true) continue;
      // The last order of an id may be a cancelled copy of the one that was executed.
      const traded = witness.trades.find(({ clientId }) => clientId === clientOrderId);
      const figures =
        traded === undefined || chance.draw('figures', clientOrderId) >= 0.7
          ? undefined
          : { orderId: traded.orderId, quantity: quantity(shown(traded.quantity)), amount: money(shown(traded.amount)), fees: money('0') };
      operator$.next({
        do: 'resolve',
        ...BY,
        clientOrderId,
        verdict: traded === undefined ? 'not_executed' : 'filled',
        figures,
        answer: ({ isDone, says }) => {
          witness.note(`resolve ${clientOrderId}: ${says}`);
          if (isDone) probes.add('a doubt ended by the word of a person');
        },
      });
    }
  } // prettier-ignore
}

/** Somebody looks at the rows that hold doubts open so often. */
const ROWS_LOOK_MS = 20_000;
/** And says whose they are once they have held one so long. */
const CAREFUL_MS = { faulty: 150_000, healed: 60_000 } as const;

export type ClerkOptions = Omit<PeopleOptions, 'world'> & {
  readonly world: Pick<PeopleOptions['world'], 'truth' | 'witness' | 'probes'>;
  readonly venueNow: () => Instant;
};

/** A careful person, who says whose the rows are that no id ties to an order: by the books of the venue, and after some minutes. */
export class Clerk {
  readonly #options: ClerkOptions;
  /** When rows were first seen to hold a doubt open. */
  readonly #since = new Map<string, number>();

  constructor(options: ClerkOptions) {
    this.#options = options;
    this.#look();
  }

  #look(): void {
    const { world, chance, desk } = this.#options;
    const now = world.truth.now();
    const { account, state } = desk() ?? {};
    for (const [id, { rows }] of account?.evidence ?? []) {
      if (rows.length === 0 || state?.attempts.get(id)?.doubt === undefined) {
        this.#since.delete(id);
        continue;
      }
      const since = this.#since.get(id) ?? now;
      this.#since.set(id, since);
      if (now - since >= CAREFUL_MS[chance.isHealed ? 'healed' : 'faulty'])
        this.#say(id, new Set(rows.map((row) => row.id)));
    }
    world.truth.push(ROWS_LOOK_MS, () => {
      this.#look();
    });
  }

  #say(clientOrderId: string, held: ReadonlySet<string>): void {
    const { world, exchange, operator$, venueNow } = this.#options;
    const { witness, probes } = world;
    const offset = BigInt(exchange.options.lists?.idOffset ?? '0');
    const ours: string[] = [];
    const others: string[] = [];
    for (const { row, listedId } of exchange.ledger.listed('desk', venueNow())) {
      const id = String(BigInt(listedId) + offset);
      if (!held.has(id)) continue;
      if (witness.foreign.has(row.orderId ?? '')) others.push(id);
      else if (row.clientId === clientOrderId) ours.push(id);
    }
    for (const [verdict, rows] of [['ours', ours], ['not_ours', others]] as const) {
      if (rows.length === 0) continue;
      operator$.next({
        do: 'resolve',
        ...BY,
        clientOrderId,
        verdict,
        rows,
        answer: ({ says }) => {
          witness.note(`rows ${verdict}: ${says}`);
          probes.add(`rows were said to be ${verdict === 'ours' ? 'ours' : 'of others'}`);
        },
      });
    }
  } // prettier-ignore
}

function mayArrive({ fault, arrivedAt, isOver }: Flight): boolean {
  if (NEVER_ARRIVES.has(fault) || (fault === 'stale connection' && isOver)) return false;
  return arrivedAt.length < (fault === 'duplicated' ? 2 : 1);
}
