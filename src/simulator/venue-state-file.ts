import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../core/errors.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { replay } from './faults/replay-log.ts';
import type { ReplayEntry } from './faults/replay-entry.ts';
import type { OrderDrill } from './faults/drill-overrides.ts';
import type { Exchange } from './exchange/exchange.ts';
import { snakeCase, venueOptions } from './options/options.ts';
import type { VenueOptions } from './options/options.ts';
import type { PriceTape } from './market/price-tape.ts';

/** Version of the file layout and of the replay rules; other versions are refused. */
const VERSION = 2;
/** "TrVn", which distinguishes the file from databases of other programs. */
const APPLICATION_ID = 0x54_72_56_6e;

/** Settings that a restart may change, because they concern access, not the accounts. */
const FREE: ReadonlySet<string> = new Set([
  'host',
  'port',
  'quoteLatencyMs',
  'orderLatencyMs',
  'tickerIntervalMs',
  'specOnly',
  'lenient',
  'limits',
  'feeds',
]);

export interface StateSetup {
  readonly options: VenueOptions;
  readonly tapes: ReadonlyMap<string, PriceTape>;
  /** Current real time, at which a new venue opens. */
  readonly now: Instant;
}

/**
 * The file that lets a venue survive its process. It contains every action on the exchange, in order, and each is
 * written before its response leaves. A restart replays them all and arrives at the same accounts, orders, quotes and
 * ids.
 *
 * A killed process loses no action for which a client received a response. A machine that loses power may lose the last
 * actions.
 */
export class StateFile {
  /** When the venue first opened, which is the start of its market. */
  readonly startedAt: Instant;
  private readonly db: DatabaseSync;
  private readonly file: string;

  /** @throws OperatorError (`storage`, `config`) if the file cannot be used, is in use, or belongs to another venue. */
  constructor(file: string, setup: StateSetup) {
    this.file = file;
    const world = worldOf(setup);
    try {
      this.db = new DatabaseSync(file);
      this.db.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;');
      this.create(world, setup.now);
    } catch (cause) {
      throw new OperatorError(
        'storage',
        `cannot use ${file}: ${cause instanceof Error ? cause.message : 'unknown'}; another venue may be using it`,
        cause,
      );
    }
    this.check(world, worldOf({ options: venueOptions(), tapes: new Map() }));
    this.startedAt = instant(Number(this.read('started_at')));
  }

  /** Replays the file, and records all later actions. Returns the time of the last replayed action. */
  attach(exchange: Exchange, drilling: <T>(drill: OrderDrill, work: () => T) => T): Instant {
    let last = this.startedAt;
    for (const row of this.db.prepare('SELECT body FROM deeds ORDER BY seq').iterate()) {
      const deed = deedOf(String(row['body']));
      replay(exchange, deed, drilling);
      last = instant(deed.now);
    }
    const insert = this.db.prepare('INSERT INTO deeds (body) VALUES (?)');
    exchange.onDeed = (deed) => {
      insert.run(JSON.stringify(deed));
    };
    return last;
  }

  close(): void {
    this.db.close();
  }

  private create(world: ReadonlyMap<string, string>, now: Instant): void {
    const made = Number(this.db.prepare('PRAGMA application_id').get()?.['application_id']);
    if (made === APPLICATION_ID) return;
    const tables = this.db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'];
    if (Number(tables) > 0) throw new Error('it is a database of another program');
    this.db.exec(`BEGIN;
      CREATE TABLE deeds (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
      CREATE TABLE world (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`);
    const insert = this.db.prepare('INSERT INTO world (key, value) VALUES (?, ?)');
    for (const [key, value] of world) insert.run(key, value);
    insert.run('started_at', String(now));
    this.db.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${VERSION}; COMMIT;`);
  }

  /** A file from a version that did not have one of these settings counts as created with its default. */
  private check(world: ReadonlyMap<string, string>, defaults: ReadonlyMap<string, string>): void {
    const version = Number(this.db.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version !== VERSION)
      throw new OperatorError(
        'storage',
        `${this.file} has the layout ${version}, this program reads ${VERSION}`,
      );
    const differing = [...world]
      .filter(([key, value]) => (this.read(key) ?? defaults.get(key)) !== value)
      .map(([key]) => snakeCase(key));
    if (differing.length === 0) return;
    this.close();
    throw new OperatorError(
      'config',
      `${this.file} was created with other settings (${differing.join(', ')}): use those, or another file`,
    );
  }

  private read(key: string): string | undefined {
    const value = this.db.prepare('SELECT value FROM world WHERE key = ?').get(key)?.['value'];
    return value === undefined ? undefined : String(value);
  }
}

/** The settings that identify the venue, one line for each top-level setting. */
function worldOf({ options, tapes }: Pick<StateSetup, 'options' | 'tapes'>): ReadonlyMap<string, string> {
  const settings = Object.entries(options)
    .filter(([name]) => !FREE.has(name) && name !== 'prices')
    .map(([name, value]): [string, string] => [name, JSON.stringify(value) ?? '']);
  const prices = [...tapes].map(([pair, { startsAt, endsAt, rows }]): [string, string] => [
    `prices.${pair}`,
    JSON.stringify({ startsAt, endsAt, rows }),
  ]);
  return new Map([...settings, ...prices]);
}

/** Not checked, because `attach` wrote it. */
const deedOf = (body: string): ReplayEntry => JSON.parse(body) as ReplayEntry; // oxlint-disable-line typescript/no-unsafe-type-assertion -- written by ourselves
