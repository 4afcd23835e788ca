import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parse } from 'csv-parse/sync';
import { finish, start } from './program.ts';
import type { Event, Program } from './program.ts';

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
  /** Parts of the config that differ; `venue` and `controls` are merged key by key. */
  readonly config?: Readonly<Record<string, unknown>> & {
    readonly venue?: Readonly<Record<string, unknown>>;
    readonly controls?: Readonly<Record<string, unknown>>;
  };
}

/** One row of `journal export --format csv --kind fills`. */
export type FillRow = Readonly<Record<'client_order_id' | 'order_id' | 'quote_id' | 'pair' | 'side' | 'quantity' | 'price' | 'amount' | 'fees' | 'strategy' | 'parent' | 'slice' | 'attempt', string>>; // prettier-ignore

/** A temporary folder that goes when the test ends. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-system-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A desk in its own folder: config, strategies and journal, run as real processes. */
export class DeskFolder {
  readonly folder: string;
  readonly journal: string;
  readonly token: string;
  /** Every process of the desk, for the search for its token. */
  readonly programs: Program[] = [];

  constructor(folder: string, token: string) {
    this.folder = folder;
    this.token = token;
    this.journal = `sqlite:${join(folder, 'journal.db')}`;
  }

  /** `tranche run` with its token from the environment. */
  run(...args: readonly string[]): Program {
    return this.#kept(start(['run', '--config', 'desk.yaml', ...args], this.#options()));
  }

  /** Any other command, to its end. */
  async command(...args: readonly string[]): Promise<Awaited<ReturnType<typeof finish>>> {
    const program = await finish(args, this.#options());
    this.programs.push(program);
    return program;
  }

  /** The fills as the journal exports them. */
  async fills(): Promise<readonly FillRow[]> {
    const program = await this.command('journal', 'export', '--format', 'csv', '--kind', 'fills', this.journal);
    expect({ code: program.code, stderr: program.stderr }).toEqual({ code: 0, stderr: '' });
    return parse(program.stdout, { columns: true });
  }

  /** All records, as `journal show --json` prints them: `seq`, `at` and `body`. */
  async records(): Promise<readonly Event[]> {
    const program = await this.command('journal', 'show', '--json', this.journal);
    expect(program.code).toBe(0);
    return program.events().map(({ body, seq, at }) => ({ ...(body as Event), seq, recorded_at: at }));
  }

  /** Proves the chain of the journal and that no attempt has been left open. */
  async expectWholeJournal(): Promise<void> {
    const verdict = await this.command('journal', 'verify', this.journal);
    expect({ code: verdict.code, stderr: verdict.stderr }).toEqual({ code: 0, stderr: '' });
    expect(verdict.stdout).toContain('records holds');
    expect(openIntents(await this.records())).toEqual([]);
  }

  /** The token stands in nothing that the desk has said or written, in no spelling. */
  expectNoToken(more: readonly string[] = []): void {
    const spellings = [
      this.token,
      ...(['base64', 'base64url', 'hex'] as const).map((spelling) => Buffer.from(this.token).toString(spelling)),
    ];
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(0);
    const places = [
      ...files.map((file) => [file, readFileSync(file, 'latin1')] as const),
      ...this.programs.flatMap(({ pid, stdout, stderr }) => [
        [`stdout of ${pid}`, stdout] as const,
        [`stderr of ${pid}`, stderr] as const,
      ]),
      ...more.map((text, i) => [`text ${i}`, text] as const),
    ];
    const found = places.filter(([, text]) => spellings.some((spelling) => text.includes(spelling)));
    expect(found.map(([place]) => place)).toEqual([]);
  }

  #options(): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
    return { cwd: this.folder, env: { TRANCHE_TOKEN: this.token } };
  }

  #kept(program: Program): Program {
    this.programs.push(program);
    return program;
  }
}

/** Client ids of attempts whose outcome the journal does not hold. */
export function openIntents(records: readonly Event[]): readonly unknown[] {
  const open = new Set<unknown>();
  for (const { kind, client_order_id: id, result } of records) {
    if (kind === 'intent') open.add(id);
    if (kind === 'fill' || (kind === 'attempt' && result !== 'doubt')) open.delete(id);
  }
  return [...open];
}

/** Writes the files of a live desk. Its limits are wide: what is tested is not the limits. */
export function aDesk({ venue, strategies, config = {} }: DeskSetup): DeskFolder {
  const folder = aFolder();
  const isPlain = venue.wsUrl === undefined;
  const capabilities = { balances: !isPlain, pairs: !isPlain, order_lookup: !isPlain, ticker: !isPlain };
  const whole = {
    desk: 'main',
    mode: 'live',
    journal: `sqlite:${join(folder, 'journal.db')}`,
    operate: { listen: '127.0.0.1:0' },
    strategies: 'strategies',
    ...config,
    venue: {
      base_url: venue.baseUrl,
      ...(isPlain ? {} : { ws_url: venue.wsUrl }),
      capabilities,
      sell_path: '/v1/orders/sell',
      ...config.venue,
    },
    controls: {
      max_order_notional: { amount: '250000', currency: 'usd' },
      max_day_notional: { amount: '50000000', currency: 'usd' },
      collar_bps: 300,
      pairs: ['btcusd', 'ethusd'],
      sides: ['buy', 'sell'],
      ...config.controls,
    },
  };
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(whole, undefined, 2));
  mkdirSync(join(folder, 'strategies'));
  for (const strategy of strategies)
    writeFileSync(join(folder, 'strategies', `${String(strategy['id'])}.yaml`), JSON.stringify(strategy, undefined, 2));
  return new DeskFolder(folder, venue.token);
}
