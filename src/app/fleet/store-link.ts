import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandGate } from '../../operate/api/command-gate.ts';
import { CommandStore, HALT } from './command-store.ts';
import type { StoredCommand } from './command-store.ts';
import { StatusStore } from './status-store.ts';
import type { DeskReport } from './status-store.ts';
import { StoreSession } from './store-session.ts';

/** A desk of this process that executes the commands in the store. */
export interface LinkedDesk {
  readonly desk: string;
  readonly epoch: number;
  readonly execute: CommandGate;
  /** Returns whether it accepts commands other than a halt. */
  readonly isReady: () => boolean;
  /** Returns whether the journal has the record of the halt in force. */
  readonly isHaltNoted: () => boolean;
  /** Returns a text that changes whenever the desk should report immediately. */
  readonly standing: () => string;
  readonly report: () => DeskReport;
  readonly warn: (why: string) => void;
}

/** Interval at which a link reads commands; it also reads them at each notification of the server. */
const LOOK_MS = 1_000;
/** Longest time without a report of a desk to the store. */
const REPORT_MS = 5_000;
/** Longest wait for the record of a halt; the halt takes effect before that. */
const NOTED_MS = 10_000;

/** Links by database; the desks of this process share them. */
const links = new Map<string, StoreLink>();

/** Links a desk to the store of its journal. When this resolves, halts that waited there are set. Returns the function to end the link. */
export async function linkToStore(connectionString: string, desk: LinkedDesk): Promise<() => Promise<void>> {
  const link = links.get(connectionString) ?? new StoreLink(connectionString);
  links.set(connectionString, link);
  const leave = async (): Promise<void> => {
    if (link.remove(desk) > 0) return;
    if (links.get(connectionString) === link) links.delete(connectionString);
    await link.close();
  };
  try {
    await link.add(desk);
    return leave;
  } catch (error) {
    await leave();
    throw error;
  }
}

class StoreLink {
  readonly #session: StoreSession;
  readonly #commands: CommandStore;
  readonly #statuses: StatusStore;
  /** The last report of each desk. */
  readonly #reported = new Map<string, { readonly standing: string; readonly at: number }>();
  readonly #desks = new Map<string, LinkedDesk>();
  /** Commands in progress, and halts that have ended, because rows read before their end still show them as open. */
  readonly #underWay = new Set<number>();
  /** The last command of each desk, other than a halt. */
  readonly #last = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isToLookAgain = false;
  #hasFailed = false;

  constructor(connectionString: string) {
    this.#session = new StoreSession(connectionString, {
      channel: 'tranche_command',
      onNotice: () => {
        void this.#look();
      },
    });
    this.#commands = new CommandStore(this.#session);
    this.#statuses = new StatusStore(this.#session);
  }

  /** @throws OperatorError `storage` if the commands cannot be read, because a desk must not start before it knows the halts */
  async add(desk: LinkedDesk): Promise<void> {
    const waiting = await this.#commands.pending([desk.desk]);
    const halts = waiting.filter(({ path }) => path === HALT);
    this.#desks.set(desk.desk, desk);
    for (const halt of halts) this.#follow(desk, halt);
    this.#timer ??= setInterval(() => {
      void this.#look();
      void this.#report();
    }, LOOK_MS).unref();
  }

  /** Removes a desk. Returns the number of desks that remain. */
  remove(desk: LinkedDesk): number {
    if (this.#desks.get(desk.desk) === desk) this.#desks.delete(desk.desk);
    this.#reported.delete(desk.desk);
    return this.#desks.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#session.close().catch(() => undefined);
  }

  /** Reads the commands, one read at a time. A notification during a read causes another read. */
  async #look(): Promise<void> {
    this.#isToLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#isToLookAgain && this.#desks.size > 0) {
        this.#isToLookAgain = false;
        for (const command of await this.#commands.pending([...this.#desks.keys()])) {
          const desk = this.#desks.get(command.desk);
          if (desk !== undefined) this.#follow(desk, command);
        }
        this.#hasFailed = false;
      }
    } catch (error) {
      // The timer reads again in a second. Meanwhile no order can leave the desk, because its journal is on the same server.
      if (!this.#hasFailed)
        for (const { warn } of this.#desks.values())
          warn(`commands in the store cannot be read: ${wordsOf(error)}; trying again`);
      this.#hasFailed = true;
    } finally {
      this.#isLooking = false;
    }
  }

  /** Publishes the reports that are due. After an error, the next report replaces the lost one. */
  async #report(): Promise<void> {
    const now = performance.now();
    const due = [...this.#desks.values()].flatMap((desk) => {
      const standing = desk.standing();
      const last = this.#reported.get(desk.desk);
      if (last?.standing === standing && now - last.at < REPORT_MS) return [];
      this.#reported.set(desk.desk, { standing, at: now });
      return [{ desk: desk.desk, epoch: desk.epoch, report: desk.report() }];
    });
    if (due.length > 0) await this.#statuses.publish(due).catch(() => undefined);
  }

  /** Executes a command: a halt immediately, other commands of a desk one after the other. */
  #follow(desk: LinkedDesk, command: StoredCommand): void {
    const { id, path } = command;
    if (this.#underWay.has(id)) return;
    this.#underWay.add(id);
    const turn = path === HALT ? Promise.resolve() : (this.#last.get(desk.desk) ?? Promise.resolve());
    const done = this.#after(turn, desk, command);
    if (path !== HALT) this.#last.set(desk.desk, done);
  }

  async #after(turn: Promise<void>, desk: LinkedDesk, command: StoredCommand): Promise<void> {
    const { id, path } = command;
    await turn;
    try {
      if (path === HALT && (await this.#halt(desk, command))) return;
      if (path !== HALT) await this.#execute(desk, command);
    } catch (error) {
      desk.warn(`command ${id} of the store: ${wordsOf(error)}; trying again`);
    }
    this.#underWay.delete(id);
  }

  /**
   * Halts the desk immediately, and answers when the journal has the halt. Until then the row stays open, and the next owner halts the desk
   * before it sends anything. Returns whether the command has ended.
   */
  async #halt(desk: LinkedDesk, command: StoredCommand): Promise<boolean> {
    const { id, path, body, caller } = command;
    const { status, body: answer } =
      caller === undefined ? UNREADABLE : await desk.execute({ path, body, caller });
    if (status === 200 && !(await isNoted(desk))) return false;
    // A caller that has the answer must see the state of the desk after the halt.
    await this.#report();
    await this.#commands.end(id, { epoch: desk.epoch, status, body: answer });
    return true;
  }

  async #execute(desk: LinkedDesk, command: StoredCommand): Promise<void> {
    const { id, epoch, path, body, caller, begunBy, isLate } = command;
    // The desk has a newer owner: this one is about to detect that it lost the lease.
    if ((epoch ?? 0) > desk.epoch || (begunBy ?? 0) > desk.epoch) return;
    if (begunBy !== undefined) {
      await this.#commands.voidIt(id, `the owner under epoch ${begunBy} started it and did not answer: the journal shows whether it took effect`, begunBy); // prettier-ignore
      return;
    }
    if (epoch !== undefined && epoch < desk.epoch) {
      await this.#commands.voidIt(id, `the command had no effect: it was sent to the owner under epoch ${epoch}, and the desk has epoch ${desk.epoch} now. Check the desk, then send the command again`); // prettier-ignore
      return;
    }
    if (isLate) {
      await this.#commands.voidIt(id, 'the command had no effect: nobody executed it in time. Check the desk, then send the command again'); // prettier-ignore
      return;
    }
    if (!desk.isReady() || !(await this.#commands.begin(command, desk.epoch))) return;
    const { status, body: answer } =
      caller === undefined ? UNREADABLE : await desk.execute({ path, body, caller });
    // Nobody waits for the answer to a standing command.
    if (status !== 200 && epoch === undefined) desk.warn(`command ${id} of the store, ${path}: ${answer}`);
    await this.#report();
    await this.#commands.end(id, { epoch: desk.epoch, status, body: answer });
  }
}

const UNREADABLE = {
  status: 400,
  body: JSON.stringify({ error: 'the row names a caller that this version cannot read' }),
};

async function isNoted(desk: LinkedDesk): Promise<boolean> {
  for (const end = performance.now() + NOTED_MS; performance.now() < end; await sleep(20))
    if (desk.isHaltNoted()) return true;
  return false;
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
