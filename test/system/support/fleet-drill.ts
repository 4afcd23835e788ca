import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { uniform } from '../../../src/core/uniform.ts';
import { median } from '../../../bench/measure.ts';
import { LEASE_MS } from '../../../src/journal/postgres/take-desk.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';
import { openIntents } from './checks.ts';
import { fillsOf } from './deaths.ts';
import { aFolder } from './desk.ts';
import { expectSameSums, expectSlicesWithin, watched } from './drill.ts';
import { Fleet, tokenOf } from './fleet.ts';
import { readTrades, tradesOf } from './ledger.ts';
import { Machine } from './machine.ts';
import { PostgresPair, askServer } from './postgres-pair.ts';
import type { Event } from './program.ts';
import { aVenueProcess } from './venue.ts';

/**
 * Three machines with the desks of a firm, one PostgreSQL with a synchronous standby, one venue. Everything is a real process in real time, and
 * everything fails: machines die and stand still, lines are cut or fall silent, the server is killed, and its standby takes over.
 */

export interface FleetDrillOptions {
  readonly seed: number;
  /** How long things go wrong. */
  readonly seconds: number;
  readonly desks: number;
  /** Seconds until the standby is promoted, and again and again. */
  readonly promoteEverySeconds: number;
  /** This alone goes wrong, again and again, on one machine after the other; default: everything. */
  readonly only?: string;
  /** Rule of the product that is broken on all machines: a name of test/simulation/mutants.ts. Default: none. */
  readonly mutant?: string;
  /** Least time for which a machine stands still, seconds; default: 1. */
  readonly stillSeconds?: number;
  /** Life of the venue's quotes, seconds; default: 10. */
  readonly quoteLifeSeconds?: number;
}

/** From the death of the owner of a desk until the next fill of that desk. */
export interface Recovery {
  readonly desk: string;
  readonly what: string;
  readonly ms: number;
  /** An order of the owner was open, and had to be proven first. */
  readonly hadDoubt: boolean;
}

export interface FleetDrillReport {
  readonly seed: number;
  /** How often an owner was replaced by another: epochs raised after the first. */
  readonly takeovers: number;
  /** Owners that found out that they had been replaced. */
  readonly fencedOut: number;
  readonly fills: number;
  readonly strikes: Readonly<Record<string, number>>;
  readonly recoveries: readonly Recovery[];
  /** Why desks had to be re-armed, and how often. */
  readonly halts: Readonly<Record<string, number>>;
  /** What must never be, and was. */
  readonly violations: readonly string[];
}

const MACHINES = ['north', 'south', 'west'] as const;
const QUOTE = /^POST \/v1\/quote /u;
const ORDER = /^POST \/v1\/orders\//u;
const QUOTE_LIFE_SECONDS = 10;
/** Until all desks are re-armed after a failover. */
const REARMED_MS = 30_000;
/** How long a fleet that is well again may take until each desk trades and no order is open. */
const SETTLE_MS = 180_000;

/** Something that went wrong. */
interface Strike {
  readonly what: string;
  /** Undefined: it concerns all machines. */
  readonly machine: string | undefined;
  readonly desks: readonly string[];
  readonly at: number;
  until: number;
  /** The owners of its desks are gone for good. */
  readonly isDeath: boolean;
}

export async function fleetDrill(options: FleetDrillOptions): Promise<FleetDrillReport> {
  const drill = await FleetDrill.prepare(options);
  await drill.trade();
  await drill.fail();
  const unsettled = await drill.settle();
  return await drill.report(unsettled);
}

class FleetDrill {
  readonly #options: FleetDrillOptions;
  readonly #pair: PostgresPair;
  readonly #fleet: Fleet;
  readonly #machines: Machine[] = [];
  readonly #strikes: Strike[] = [];
  readonly #halts: string[] = [];
  /** The machine of each owner, by desk and epoch. */
  readonly #machineOf = new Map<string, string>();
  /** Machines that are to run. */
  readonly #up = new Set<Machine>();
  /** Machines whose clocks stand still. */
  readonly #still = new Set<Machine>();
  #endsAt = 0;
  #isWatching = true;
  #takeovers = 0;
  #serverWork: Promise<void> = Promise.resolve();
  #drawn = 0;

  private constructor(options: FleetDrillOptions, pair: PostgresPair, fleet: Fleet) {
    this.#options = options;
    this.#pair = pair;
    this.#fleet = fleet;
  }

  static async prepare(options: FleetDrillOptions): Promise<FleetDrill> {
    const pair = await PostgresPair.start();
    onTestFinished(async () => {
      await pair.stop();
    });
    const desks = Array.from({ length: options.desks }, (_, i) => `d${String(i + 1).padStart(2, '0')}`);
    const fleet = new Fleet(pair.primary, {
      venue: await aVenue(desks, options),
      seen: watched(),
      desks,
      everyMs: 2_000,
      quoteLifeMaxSeconds: (options.quoteLifeSeconds ?? QUOTE_LIFE_SECONDS) + 2,
    });
    await fleet.prepare();
    const drill = new FleetDrill(options, pair, fleet);
    for (const name of MACHINES)
      drill.#machines.push(
        await Machine.make({
          fleet,
          name,
          reachStore: () => connect(join(pair.primary.home, '.s.PGSQL.5432')),
          mutant: options.mutant,
        }),
      );
    return drill;
  } // prettier-ignore

  /** Until each desk has traded. */
  async trade(): Promise<void> {
    for (const machine of this.#machines) this.#start(machine);
    void this.#watch();
    await this.#eachDeskTrades(Date.now());
  }

  /** Things go wrong on each machine, to single desks and to the server, at once and independently. */
  async fail(): Promise<void> {
    const { seconds, promoteEverySeconds } = this.#options;
    this.#endsAt = Date.now() + seconds * 1_000;
    const { only } = this.#options;
    if (only !== undefined) {
      let turn = 0;
      await this.#again(1, 4, async () => {
        const machine = this.#machines[turn++ % this.#machines.length];
        if (machine !== undefined) await this.#strikesOf(machine)[only]?.();
      });
      return;
    }
    await Promise.all([
      ...this.#machines.map(async (machine) => {
        await this.#wait(this.#between(4, 14));
        await this.#strikeMachine(machine);
        await this.#again(40, 90, async () => await this.#strikeMachine(machine));
      }),
      ...Array.from({ length: 5 }, async () => {
        await this.#again(0.5, 2, async () => await this.#strikeDesk());
      }),
      this.#again(0.5, 2, async () => await this.#moveDesk()),
      this.#again(40, 80, async () => await this.#onServer(async () => await this.#restartServer())),
      this.#again(
        promoteEverySeconds,
        promoteEverySeconds * 1.2,
        async () => await this.#onServer(async () => await this.#promote()),
      ),
    ]);
  }

  /** All is well again: each desk trades, and at the end no order is open. Gives what is not so in time. */
  async settle(): Promise<readonly string[]> {
    const healedAt = Date.now();
    const late: string[] = [];
    await this.#eachDeskTrades(healedAt).catch((error: unknown) => late.push(String(error)));
    const rows = await this.#ask('SELECT sum(epoch - 1)::int AS n FROM tranche.desk');
    this.#takeovers = Number(rows[0]?.['n']);
    for (let tries = 0; ; tries += 1) {
      late.push(...(await this.#drain()));
      const open = (await this.#stories()).flatMap(({ desk, records }) =>
        openIntents(records).map((id) => `${desk}: order ${String(id)} has no outcome`),
      );
      if (open.length === 0 || tries === 3) return [...late, ...open];
      for (const machine of this.#machines) this.#start(machine);
      await this.#eachDeskTrades(Date.now()).catch(() => undefined);
    }
  }

  async report(unsettled: readonly string[]): Promise<FleetDrillReport> {
    this.#isWatching = false;
    const stories = await this.#stories();
    const judged = await Promise.all(stories.map(async (story) => await judge(story, this.#fleet)));
    const said = this.#machines.flatMap(({ daemons }) => daemons.map(({ stderr }) => stderr)).join('\n');
    return {
      seed: this.#options.seed,
      takeovers: this.#takeovers,
      fencedOut: said.match(/another owner has taken over desk/gu)?.length ?? 0,
      fills: stories.reduce((sum, { records }) => sum + records.filter(({ kind }) => kind === 'fill').length, 0),
      strikes: counted(this.#strikes.map(({ what }) => what)),
      recoveries: stories.flatMap((story) => this.#recoveriesOf(story)),
      halts: counted(this.#halts),
      violations: [...unsettled, ...judged.flat()],
    };
  } // prettier-ignore

  #start(machine: Machine): void {
    this.#up.add(machine);
    machine.start();
  }

  async #ask(text: string, values: readonly unknown[] = []): Promise<readonly Event[]> {
    return await askServer(this.#pair.primary, text, values);
  }

  /** A number between both, by the seed. */
  #between(least: number, most: number): number {
    return least + uniform(this.#options.seed, this.#drawn++) * (most - least);
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#between(0, values.length))];
  }

  /** Seconds, at most until the end, unless this alone goes wrong. */
  async #wait(seconds: number): Promise<void> {
    const left = this.#options.only === undefined ? this.#endsAt - Date.now() : Number.POSITIVE_INFINITY;
    await sleep(Math.max(0, Math.min(seconds * 1_000, left)));
  }

  async #again(least: number, most: number, strike: () => Promise<void>): Promise<void> {
    for (;;) {
      await this.#wait(this.#between(least, most));
      if (Date.now() >= this.#endsAt) return;
      await strike();
    }
  }

  /** Notes that something goes wrong, until `work` is over. */
  async #note(
    { what, machine, isDeath = false }: { readonly what: string; readonly machine?: Machine | undefined; readonly isDeath?: boolean },
    desks: readonly string[] | undefined,
    work: () => Promise<void>,
  ): Promise<Strike> {
    const strike: Strike = {
      what,
      machine: machine?.name,
      desks: desks ?? (machine === undefined ? this.#fleet.desks : await this.#desksAt(machine)),
      at: Date.now(),
      until: Number.POSITIVE_INFINITY,
      isDeath,
    };
    this.#strikes.push(strike);
    await work();
    strike.until = Date.now();
    return strike;
  } // prettier-ignore

  async #desksAt({ name }: Machine): Promise<readonly string[]> {
    const rows = await this.#ask('SELECT desk FROM tranche.fleet_desk WHERE daemon = $1', [name]).catch(() => []);
    return rows.map(({ desk }) => String(desk));
  } // prettier-ignore

  async #strikeMachine(machine: Machine): Promise<void> {
    await this.#pick(Object.values(this.#strikesOf(machine)))?.();
  }

  #strikesOf(machine: Machine): Readonly<Record<string, () => Promise<void>>> {
    const lines = (['database', 'venue'] as const).flatMap((line) =>
      (['cut', 'silent'] as const).map((state) => ({ line, state, what: `${line} ${state}` })),
    );
    return {
      'machine dies': async () => await this.#killMachine(machine),
      'daemon dies': async () => await this.#killDaemon(machine),
      'machine stands still': async () => await this.#standStill(machine, 'machine stands still', undefined),
      'machine stands still before its quote': async () =>
        await this.#standStill(machine, 'machine stands still before its quote', QUOTE),
      'machine stands still after its order': async () =>
        await this.#standStill(machine, 'machine stands still after its order', ORDER),
      'machine dies, its order arrives late': async () => await this.#dieAfterOrder(machine, undefined),
      'desk dies, its order arrives late': async () => await this.#dieAfterOrder(machine, this.#pick(this.#fleet.desks.filter((desk) => machine.processes(desk).length > 0))),
      ...Object.fromEntries(
        lines.map(({ line, state, what }) => [
          what,
          async () => {
            await this.#note({ what, machine }, undefined, async () => {
              machine[line].set(state);
              await this.#wait(this.#between(1, 30));
              machine[line].set('open');
            });
          },
        ]),
      ),
    };
  } // prettier-ignore

  async #killMachine(machine: Machine): Promise<void> {
    await this.#note({ what: 'machine dies', machine, isDeath: true }, undefined, async () => {
      this.#up.delete(machine);
      machine.signal('SIGKILL');
      await this.#wait(this.#between(0, 25));
    });
    this.#start(machine);
  }

  /** Its desks notice, and end by themselves. */
  async #killDaemon(machine: Machine): Promise<void> {
    await this.#note({ what: 'daemon dies', machine }, undefined, async () => {
      this.#up.delete(machine);
      machine.daemons.at(-1)?.signal('SIGKILL');
      await this.#wait(this.#between(0, 10));
    });
    this.#start(machine);
  }

  /**
   * Half of the time with all its clocks. `at`: a message is on its way and arrives before it wakes up. With a quote that is the hole that a
   * lease alone leaves open: the owner stands still after its intent is durable, and a fresh quote is there when it wakes up beside
   * its successor.
   */
  async #standStill(machine: Machine, what: string, at: RegExp | undefined): Promise<void> {
    const release = at === undefined ? undefined : await machine.venue.holdNext(at, 5_000);
    if (at !== undefined && release === undefined) return;
    this.#still.add(machine);
    const { stillSeconds: least = 1 } = this.#options;
    const seconds = this.#between(least, Math.max(60, least));
    await this.#note({ what, machine, isDeath: seconds * 1_000 > LEASE_MS + 5_000 }, undefined, async () => {
      // The intent becomes durable meanwhile.
      await sleep(50);
      machine.standStill();
      await this.#wait(seconds);
      release?.();
      await sleep(300);
      // It reaches the venue at once, and the database a little later.
      machine.database.set('silent');
      machine.wake(this.#options.mutant !== undefined || this.#between(0, 1) < 0.5);
      await sleep(this.#between(0.5, 2) * 1_000);
      machine.database.set('open');
    });
    this.#still.delete(machine);
  }

  /** An order is on its way when its machine or the process of its desk dies, and arrives late. */
  async #dieAfterOrder(machine: Machine, desk: string | undefined): Promise<void> {
    const token = desk === undefined ? '' : tokenOf(desk);
    const release = await machine.venue.holdNext(new RegExp(`${ORDER.source}[^]*${token}`, 'u'), 5_000);
    if (release === undefined) return;
    // As late as its quote allows where a rule is broken.
    const latest = 0.95 * (this.#options.quoteLifeSeconds ?? QUOTE_LIFE_SECONDS);
    const orderSeconds = this.#options.mutant === undefined ? this.#between(0, latest) : latest;
    const what = `${desk === undefined ? 'machine' : 'desk'} dies, its order arrives late`;
    await this.#note({ what, machine, isDeath: true }, desk === undefined ? undefined : [desk], async () => {
      if (desk === undefined) this.#up.delete(machine);
      machine.signal('SIGKILL', desk);
      const late = this.#wait(orderSeconds).then(release);
      await this.#wait(this.#between(0, 20));
      if (desk === undefined) this.#start(machine);
      await late;
    });
  } // prettier-ignore

  /** A desk whose owner works, if there is one: a daemon waits longer before each start of a desk that dies before it has reported. */
  async #ownedDesk(): Promise<string | undefined> {
    const rows = await this.#ask(
      'SELECT d.desk FROM tranche.desk d JOIN tranche.desk_status s USING (desk, epoch) WHERE d.until > clock_timestamp()',
    ).catch(() => []);
    return this.#pick(rows.map(({ desk }) => String(desk)));
  } // prettier-ignore

  async #strikeDesk(): Promise<void> {
    const desk = await this.#ownedDesk();
    const machine = this.#machines.find((one) => desk !== undefined && one.processes(desk).length > 0);
    if (desk === undefined || machine === undefined) return;
    if (this.#between(0, 1) < 0.75)
      await this.#note({ what: 'desk dies', machine, isDeath: true }, [desk], async () => {
        machine.signal('SIGKILL', desk);
        await this.#wait(0);
      });
    else
      await this.#note({ what: 'desk stands still', machine }, [desk], async () => {
        machine.signal('SIGSTOP', desk);
        await this.#wait(this.#between(1, 20));
        machine.signal('SIGCONT', desk);
      });
  }

  /** Nothing fails: a person sends it to another machine. */
  async #moveDesk(): Promise<void> {
    const desk = await this.#ownedDesk();
    if (desk === undefined) return;
    const from = this.#machines.find((one) => one.processes(desk).length > 0);
    const to = this.#pick([...this.#up].filter((one) => one !== from && !this.#still.has(one)));
    if (to === undefined) return;
    await this.#note({ what: 'desk is moved' }, [desk], async () => {
      await this.#fleet.move(desk, to.name);
    });
  }

  /** One after the other: a server that is replaced cannot be started again. */
  async #onServer(work: () => Promise<void>): Promise<void> {
    const before = this.#serverWork;
    this.#serverWork = before.then(work);
    await this.#serverWork;
  }

  async #restartServer(): Promise<void> {
    const { primary } = this.#pair;
    await this.#note({ what: 'server is killed' }, undefined, async () => {
      await primary.kill();
      await this.#wait(this.#between(0.5, 8));
      await primary.start();
    });
  }

  /** The primary of before goes on for a while, alone, with those who are connected to it. */
  async #promote(): Promise<void> {
    const strike = await this.#note({ what: 'standby is promoted' }, undefined, async () => {
      const before: PostgresServer = await this.#pair.promote();
      this.#fleet.server = this.#pair.primary;
      await sleep(this.#between(0, 8) * 1_000);
      for (const { database } of this.#machines) database.reset();
      await this.#pair.replace(before);
    });
    // Desks start halted, and wait for a person.
    strike.until += REARMED_MS;
  }

  /** What a supervisor does, and a person: starts daemons that ended, re-arms desks. Also notes who owns what. */
  async #watch(): Promise<void> {
    while (this.#isWatching) {
      await sleep(1_000);
      for (const machine of this.#up) if (machine.daemons.at(-1)?.hasEnded === true) machine.start();
      try {
        for (const { desk, epoch, owner } of await this.#ask('SELECT desk, epoch, owner FROM tranche.desk')) {
          const machine = MACHINES.find((name) => String(owner).includes(this.#fleet.folderOf(name)));
          if (machine !== undefined) this.#machineOf.set(`${String(desk)}/${String(epoch)}`, machine);
        }
        for (const { desk, why } of await this.#ask(HALTED)) await this.#rearm(String(desk), String(why));
      } catch {
        // The server is away.
      }
    }
  }

  async #rearm(desk: string, why: string): Promise<void> {
    const { code } = await this.#fleet.ask(desk, 'rearm', '--why', 'the drill has looked', '--with-open-doubts');
    if (code === 0) this.#halts.push(why.replaceAll(/\d+/gu, 'N'));
  } // prettier-ignore

  /** @throws when a desk has no fill after `since` within `SETTLE_MS` */
  async #eachDeskTrades(since: number): Promise<void> {
    const waiting = new Set(this.#fleet.desks);
    while (waiting.size > 0) {
      if (Date.now() - since > SETTLE_MS)
        throw new Error(`desks do not trade within ${SETTLE_MS / 1_000} s: ${await this.#statesOf([...waiting])}`);
      await sleep(500);
      const rows = await this.#ask("SELECT DISTINCT desk FROM tranche.record WHERE kind = 'fill' AND at > $1", [since]);
      for (const { desk } of rows) waiting.delete(String(desk));
    }
  } // prettier-ignore

  /** Who is to run these desks, who owns them, which processes they have, and what their journals end with. */
  async #statesOf(desks: readonly string[]): Promise<string> {
    const rows = await this.#ask(
      `SELECT f.desk, f.daemon, d.epoch, d.owner, d.until > clock_timestamp() AS is_leased
       FROM tranche.fleet_desk f LEFT JOIN tranche.desk d USING (desk) WHERE f.desk = ANY($1)`,
      [desks],
    );
    const processes = this.#machines.flatMap((machine) => desks.flatMap((desk) => machine.processes(desk).map((pid) => ({ machine: machine.name, desk, pid }))));
    const ends = await this.#ask(
      `SELECT desk, at, kind, left(body, 300) AS body FROM (SELECT *, row_number() OVER (PARTITION BY desk, kind = 'control' ORDER BY seq DESC) AS n
       FROM tranche.record WHERE desk = ANY($1)) newest WHERE n <= 4 ORDER BY desk, seq`,
      [desks],
    );
    return JSON.stringify([...rows, ...processes, ...ends]);
  } // prettier-ignore

  /** Gives which daemons do not end. */
  async #drain(): Promise<readonly string[]> {
    this.#up.clear();
    const stuck: string[] = [];
    for (const { daemons } of this.#machines) daemons.at(-1)?.signal('SIGTERM');
    for (const machine of this.#machines) {
      await machine.daemons.at(-1)?.ended().catch(() => stuck.push(`machine ${machine.name} does not drain`));
      machine.signal('SIGKILL');
    }
    return stuck;
  } // prettier-ignore

  async #stories(): Promise<readonly Story[]> {
    return await Promise.all(
      this.#fleet.desks.map(async (desk) => {
        const rows = await this.#ask('SELECT seq, at, body, hash, epoch FROM tranche.record WHERE desk = $1 ORDER BY seq', [desk]);
        return storyOf(desk, rows);
      }),
    );
  } // prettier-ignore

  /** Deaths that nothing else disturbed until the desk traded again. */
  #recoveriesOf({ desk, records }: Story): readonly Recovery[] {
    return this.#strikes.flatMap((strike): readonly Recovery[] => {
      if (!strike.isDeath || !strike.desks.includes(desk)) return [];
      const before = records.findLast(({ recorded_at: at }) => Number(at) <= strike.at);
      const fill = records.find(
        (one) => one['kind'] === 'fill' && Number(one['recorded_at']) > strike.at && Number(one['epoch']) > Number(before?.['epoch']),
      );
      if (before === undefined || fill === undefined) return [];
      const tradedAt = Number(fill['recorded_at']);
      const machine = this.#machineOf.get(`${desk}/${String(fill['epoch'])}`);
      const isDisturbed = this.#strikes.some(
        (other) =>
          other !== strike &&
          other.at <= tradedAt &&
          other.until >= strike.at &&
          (other.machine === undefined || other.desks.includes(desk) || other.machine === machine),
      );
      if (isDisturbed) return [];
      const until = records.slice(0, records.indexOf(before) + 1);
      return [{ desk, what: strike.what, ms: tradedAt - strike.at, hadDoubt: openIntents(until).length > 0 }];
    });
  } // prettier-ignore
}

/** Desks whose newest change of the whole desk was a halt, and why. */
const HALTED = `SELECT desk, body::json ->> 'why' AS why FROM (
    SELECT DISTINCT ON (desk) desk, body FROM tranche.record
    WHERE kind = 'control' AND NOT body::jsonb ?| array['parent', 'pair', 'strategy'] ORDER BY desk, seq DESC) newest
  WHERE body::json ->> 'state' = 'halted'`;

/** All records of a desk, its chain checked by nothing of the product. */
interface Story {
  readonly desk: string;
  readonly records: readonly Event[];
  /** Where the chain does not hold. */
  readonly breaks: readonly string[];
}

function storyOf(desk: string, rows: readonly Event[]): Story {
  let before = '0'.repeat(64);
  let epoch = 0;
  const breaks: string[] = [];
  const records = rows.map((row, i): Event => {
    const [seq, at, body, hash] = [String(row['seq']), String(row['at']), String(row['body']), String(row['hash'])];
    const own = createHash('sha256').update(`${before}\n${seq}\n${at}\n${body}`).digest('hex');
    if (Number(seq) !== i + 1 || own !== hash) breaks.push(`${desk}: the hash chain breaks at record ${i + 1}`);
    if (Number(row['epoch']) < epoch) breaks.push(`${desk}: record ${seq} of an epoch that was over`);
    before = hash;
    epoch = Number(row['epoch']);
    return Object.assign(JSON.parse(body) as Event, { recorded_at: Number(at), epoch });
  });
  return { desk, records, breaks };
} // prettier-ignore

/** Chain, ledger and slices of one desk. */
async function judge({ desk, records, breaks }: Story, fleet: Fleet): Promise<readonly string[]> {
  const rows = await readTrades({ ...fleet.venue, token: tokenOf(desk) });
  const fills = fillsOf(records);
  const intents = new Set(records.filter(({ kind }) => kind === 'intent').map(({ client_order_id: id }) => id));
  const absent = new Set(records.filter(({ kind, result }) => kind === 'attempt' && result === 'absent').map(({ client_order_id: id }) => id));
  const trades = tradesOf(rows);
  const wrong = (check: () => void): readonly string[] => {
    try {
      check();
      return [];
    } catch (error) {
      return [`${desk}: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
  return [
    ...breaks,
    ...[...Map.groupBy(trades, ({ id }) => id)].filter(([, all]) => all.length > 1).map(([id]) => `${desk}: ${id} was executed twice`),
    // The desk trades on as if it were nothing: what executes later executes beside its successor.
    ...trades.filter(({ id }) => absent.has(id)).map(({ id }) => `${desk}: ${id} was executed and is proven absent`),
    ...trades.filter(({ id }) => !intents.has(id)).map(({ id }) => `${desk}: ${id} was executed without an intent`),
    ...wrong(() => {
      expectSameSums(fills, records, rows);
    }),
    ...wrong(() => {
      expectSlicesWithin(fills, records);
    }),
  ];
} // prettier-ignore

async function aVenue(
  desks: readonly string[],
  { seed, quoteLifeSeconds = QUOTE_LIFE_SECONDS }: FleetDrillOptions,
): ReturnType<typeof aVenueProcess> {
  const cwd = aFolder();
  writeFileSync(
    join(cwd, 'venue.json'),
    JSON.stringify({
      seed,
      accounts: desks.map((name) => ({
        name,
        token: tokenOf(name),
        balances: { usd: '10000000', btc: '100' },
      })),
      pairs: { btcusd: { start_price: '60000' } },
      quote_life_ms: quoteLifeSeconds * 1_000,
      // Requests that are held on their way arrive in crowds: what is tested is not the limit of the address.
      limits: { address_per_ten_seconds: 1_000, cooldowns: false },
    }),
  );
  return await aVenueProcess(['--config', 'venue.json'], cwd);
}

/** How often each is there, the most frequent first. */
function counted(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length] as const);
  return Object.fromEntries(counts.toSorted(([, a], [, b]) => b - a));
}

/** The report as lines for people. */
export function linesOf(report: FleetDrillReport): readonly string[] {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  const { recoveries } = report;
  const kinds = [...Map.groupBy(recoveries, ({ what, hadDoubt }) => `${what}${hadDoubt ? ', an order open' : ''}`)];
  return [
    `  strikes ${JSON.stringify(report.strikes)}`,
    `  halts ${JSON.stringify(report.halts)}`,
    ...kinds.map(([what, all]) => {
      const ms = all.map((one) => one.ms);
      return `  ${what}: trading again after ${seconds(median(ms))} s in the median of ${all.length}, at most ${seconds(Math.max(...ms))} s`;
    }),
    ...report.violations.map((violation) => `  VIOLATION ${violation}`),
    `seed ${report.seed}: ${report.takeovers} takeovers, ${report.fencedOut} owners fenced out, ${report.fills} fills, ${report.violations.length} violations`,
  ];
} // prettier-ignore
