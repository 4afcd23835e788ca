import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { aFolder } from './desk.ts';
import type { Fleet } from './fleet.ts';
import { Line } from './line.ts';
import type { Program } from './program.ts';

export interface MachineOptions {
  readonly fleet: Fleet;
  readonly name: string;
  /** Opens a connection to the server of the moment. */
  readonly reachStore: () => Socket;
  /** Broken in its processes: a name of test/simulation/mutants.ts. */
  readonly mutant?: string | undefined;
}

const CLOCK_WRONG_MS = 3_000;

/** A machine of a fleet: a daemon with the processes of its desks, and lines of its own to the database and to the venue. */
export class Machine {
  readonly name: string;
  readonly database: Line;
  readonly venue: Line;
  readonly #options: MachineOptions;
  /** Of all runs of its daemon, the newest last. */
  readonly daemons: Program[] = [];
  /** Milliseconds by which its steady clock and its wall clock are behind: `hooks/stand-still.ts`. */
  readonly #behind = new Float64Array(2);
  readonly #clocks = join(aFolder(), 'clocks');
  #stoodFrom = 0;

  private constructor(options: MachineOptions, database: Line, venue: Line) {
    this.name = options.name;
    this.#options = options;
    this.#setClocks();
    this.database = database;
    this.venue = venue;
    onTestFinished(() => {
      this.signal('SIGKILL');
      database.close();
      venue.close();
    });
  }

  static async make(options: MachineOptions): Promise<Machine> {
    const venuePort = portOf(options.fleet);
    const database = await Line.to(options.reachStore);
    const venue = await Line.to(() => connect(venuePort, '127.0.0.1'), { redials: true });
    return new Machine(options, database, venue);
  }

  start(): void {
    const { fleet, name, mutant } = this.#options;
    const reroute = pathToFileURL(join(import.meta.dirname, 'hooks/reroute.ts'));
    reroute.search = String(
      new URLSearchParams({ from: String(portOf(fleet)), to: String(this.venue.port) }),
    );
    const clocks = pathToFileURL(join(import.meta.dirname, 'hooks/stand-still.ts'));
    clocks.search = String(new URLSearchParams({ file: pathToFileURL(this.#clocks).href }));
    const store = `postgres://tranche@127.0.0.1:${this.database.port}/postgres`;
    const imports = [reroute.href, clocks.href];
    if (mutant !== undefined) {
      const broken = pathToFileURL(join(import.meta.dirname, 'hooks/mutant.ts'));
      broken.search = String(new URLSearchParams({ name: mutant }));
      imports.push(broken.href);
    }
    this.daemons.push(fleet.daemon(name, { store, imports }));
  }

  standStill(): void {
    this.#stoodFrom = performance.now();
    this.signal('SIGSTOP');
  }

  /**
   * With its clocks it was a virtual machine that was paused: its processes cannot tell that time has passed, until something sets its wall
   * clock right, which is done a few seconds later.
   */
  wake(withClocks: boolean): void {
    if (withClocks) {
      const ms = performance.now() - this.#stoodFrom;
      this.#behind[0] = (this.#behind[0] ?? 0) + ms;
      this.#behind[1] = ms;
      this.#setClocks();
      setTimeout(() => {
        this.#behind[1] = 0;
        this.#setClocks();
      }, CLOCK_WRONG_MS);
    }
    this.signal('SIGCONT');
  }

  #setClocks(): void {
    writeFileSync(this.#clocks, this.#behind);
  }

  /** Sends a signal to the daemon and to all processes of its desks, or to those of one desk. */
  signal(name: NodeJS.Signals, desk?: string): void {
    for (const pid of this.processes(desk)) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** The daemon and the processes of its desks, or those of one desk: they name the folder of the machine. */
  processes(desk?: string): readonly number[] {
    const folder = this.#options.fleet.folderOf(this.name);
    const wanted = desk === undefined ? folder : join(folder, desk, 'desk.yaml');
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/u.test(entry) && commandOf(entry).includes(wanted))
      .map(Number);
  }
}

const portOf = ({ venue }: Fleet): number => Number(new URL(venue.baseUrl).port);

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
