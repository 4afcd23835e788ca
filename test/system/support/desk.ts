import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse } from 'csv-parse/sync';
import { aFolder } from '../../support/folder.ts';
import { expectNoToken } from './checks.ts';
import { finish, jsonLines, start } from './program.ts';
import type { Event, Finished, Program } from './program.ts';

export { aFolder } from '../../support/folder.ts';

export interface VenueAddress {
  readonly baseUrl: string;
  /** Left out: no capability is on. */
  readonly wsUrl?: string | undefined;
  readonly token: string;
}

export interface DeskSetup {
  readonly venue: VenueAddress;
  /** Documents of strategies. JSON is YAML too. */
  readonly strategies: readonly Readonly<Record<string, unknown>>[];
  /** Parts of the config that differ; `venue`, `controls` and `pacing` are merged key by key. */
  readonly config?: Readonly<Record<string, unknown>> & {
    readonly venue?: Readonly<Record<string, unknown>>;
    readonly controls?: Readonly<Record<string, unknown>>;
    readonly pacing?: Readonly<Record<string, unknown>>;
  };
  /** Modules that are loaded before the daemon: `hooks/`. */
  readonly imports?: readonly string[];
  /** What to put before the command of the daemon. */
  readonly before?: readonly string[];
}

/** One row of `journal export --format csv --kind fills`. */
export type FillRow = Readonly<Record<'client_order_id' | 'order_id' | 'quote_id' | 'pair' | 'side' | 'quantity' | 'price' | 'amount' | 'fees' | 'strategy' | 'parent' | 'slice' | 'attempt', string>>; // prettier-ignore

/** A desk in its own folder: config, strategies and journal, run as real processes. */
export class DeskFolder {
  readonly folder: string;
  readonly journal: string;
  readonly token: string;
  /** Every process of the desk, for the search for its token. */
  readonly programs: Pick<Finished, 'pid' | 'stdout' | 'stderr'>[] = [];

  readonly #how: Pick<DeskSetup, 'imports' | 'before'>;

  constructor(
    folder: string,
    token: string,
    how: Pick<DeskSetup, 'imports' | 'before'> & { readonly journal?: string } = {},
  ) {
    this.folder = folder;
    this.token = token;
    this.#how = how;
    this.journal = how.journal ?? `sqlite:${join(folder, 'journal.db')}`;
  }

  /** `tranche run` with its token from the environment. */
  run(...args: readonly string[]): Program {
    const options = { ...this.#options(), ...this.#how };
    return this.#kept(start(['run', '--config', 'desk.yaml', ...args], options));
  }

  /** As `run`, with modules that are loaded before the program. */
  runWith(imports: readonly string[], ...args: readonly string[]): Program {
    const options = { ...this.#options(), imports };
    return this.#kept(start(['run', '--config', 'desk.yaml', ...args], options));
  }

  /** Any other command, to its end. */
  async command(...args: readonly string[]): Promise<Finished> {
    const program = await finish(args, this.#options());
    this.programs.push(program);
    return program;
  }

  /** The fills as the journal exports them. */
  async fills(): Promise<readonly FillRow[]> {
    const program = await this.#told('journal', 'export', '--format', 'csv', '--kind', 'fills', this.journal);
    return parse(program.stdout, { columns: true });
  }

  /** All records, as `journal show --json` prints them: the body, with `recorded_at` beside it. */
  async records(): Promise<readonly Event[]> {
    const program = await this.#told('journal', 'show', '--json', this.journal);
    return jsonLines(program.stdout).map(({ body, at }) => Object.assign(body as Event, { recorded_at: at }));
  }

  /** A command that works. @throws with its words when it does not. */
  async #told(...args: readonly string[]): Promise<Finished> {
    const program = await this.command(...args);
    if (program.code !== 0 || program.stderr !== '')
      throw new Error(`tranche ${args.join(' ')} ended with ${program.code}: ${program.stderr}`);
    return program;
  }

  #options(): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
    return { cwd: this.folder, env: { TRANCHE_TOKEN: this.token } };
  }

  #kept(program: Program): Program {
    this.programs.push(program);
    return program;
  }
}

/** Limits that no test comes near to: what is tested is not the limits. */
export const wideControls = {
  max_order_notional: { amount: '250000', currency: 'usd' },
  max_day_notional: { amount: '50000000', currency: 'usd' },
  max_order_quantity: { btcusd: '1000', ethusd: '1000' },
  min_position: { btc: '0', eth: '0' },
  collar_bps: 300,
  max_drift_bps: 10_000,
  max_shortfall_bps: 10_000,
  max_executions_per_minute: 10_000,
  pairs: ['btcusd', 'ethusd'],
  sides: ['buy', 'sell'],
} as const;

/** Writes the files of a live desk. Its limits are wide: what is tested is not the limits. */
export function aDesk({ venue, strategies, config = {}, imports = [], before = [] }: DeskSetup): DeskFolder {
  const folder = aFolder();
  const isPlain = venue.wsUrl === undefined;
  const capabilities = { balances: !isPlain, pairs: !isPlain, order_lookup: !isPlain, ticker: !isPlain };
  const whole = {
    desk: 'main',
    mode: 'live',
    journal: `sqlite:${join(folder, 'journal.db')}`,
    operate: { listen: '127.0.0.1:0' },
    // Modules run in some of these desks.
    strategies: 'strategies',
    allow_modules: true,
    // Live mode refuses code that is loaded beside it: the hooks of tests are.
    allow_environment: ['--import'],
    ...config,
    pacing: { orders_per_second: 60, ...config.pacing },
    venue: {
      base_url: venue.baseUrl,
      ...(isPlain ? {} : { ws_url: venue.wsUrl }),
      capabilities,
      sell_path: '/v1/orders/sell',
      ...config.venue,
    },
    controls: {
      ...wideControls,
      ...config.controls,
    },
  };
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(whole, undefined, 2));
  mkdirSync(join(folder, 'strategies'));
  for (const strategy of strategies)
    writeFileSync(
      join(folder, 'strategies', `${String(strategy['id'])}.yaml`),
      JSON.stringify(strategy, undefined, 2),
    );
  const desk = new DeskFolder(folder, venue.token, { imports, before, journal: whole.journal });
  // Whatever a test is about: the token of its desk stands in nothing that the desk has written or said.
  onTestFinished(() => {
    expectNoToken(desk);
  });
  return desk;
}
