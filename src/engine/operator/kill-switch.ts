import type { Halt, HaltPort } from '../ports.ts';

/**
 * The kill switch that the gate reads. It is set in memory in the tick of the command, before anything is written, so
 * that a full disk, a failed journal or a blocked API cannot delay it. A halt file beside the journal survives the
 * process; anyone who may write there can create it.
 */
export class KillSwitch {
  readonly #port: HaltPort | undefined;
  #halt: Halt | undefined;
  #fault: string | undefined;
  #unprepared: string | undefined;
  readonly #listeners: ((halt: Halt) => void)[] = [];

  constructor(port?: HaltPort) {
    this.#port = port;
  }

  /** Called in the tick in which the kill switch is set, or goes from halt to kill. */
  onSet(listener: (halt: Halt) => void): void {
    this.#listeners.push(listener);
  }

  /** The current halt. Reads the halt file unless memory already has it. */
  get halt(): Halt | undefined {
    if (this.#halt === undefined) this.look();
    return this.#halt;
  }

  get isSet(): boolean {
    return this.halt !== undefined;
  }

  /** Whether a halt file exists. Does not halt the desk because of the file, so that a command can lift the halt. */
  get isNoted(): boolean {
    return this.#noted() !== undefined;
  }

  /** Whether a halt file is configured. */
  get isWatched(): boolean {
    return this.#port !== undefined;
  }

  /**
   * Why the halt file could not be written: the halt is in memory, but a restart will not know it. `undefined` on
   * success.
   */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Reads the halt file. A failed read counts as a halt, because a desk that cannot check must not trade. */
  look(): void {
    const noted = this.#noted();
    if (noted !== undefined && this.#raise(noted)) this.#tell(noted);
  }

  /** Sets memory first, then the file, then notifies listeners. The journal record follows. */
  set(halt: Halt): void {
    const isNew = this.#raise(halt);
    if (!isNew) return;
    try {
      this.#port?.set(halt);
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
    }
    this.#tell(halt);
  }

  /**
   * Removes the halt file, then clears memory. @throws when the file cannot be removed: then the kill switch
   * stays set.
   */
  clear(): void {
    this.#port?.clear();
    this.#halt = undefined;
    this.#fault = undefined;
  }

  /** Prepares the next halt file. Returns why that failed, if not reported before; `undefined` on success. */
  prepare(): string | undefined {
    const before = this.#unprepared;
    this.#unprepared = undefined;
    try {
      if (this.#halt === undefined) this.#port?.prepare?.();
      return undefined;
    } catch (error) {
      this.#unprepared = error instanceof Error ? error.message : String(error);
      return before === undefined ? this.#unprepared : undefined;
    }
  }

  #noted(): Halt | undefined {
    try {
      if (this.#port === undefined || !this.#port.isSet()) return undefined;
      return this.#port.read() ?? { level: 'halt', by: 'file', why: 'the halt file exists' };
    } catch (error) {
      const why = `the halt file cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
      return { level: 'halt', by: 'tranche', why };
    }
  }

  /** Whether this is stricter than the current state. */
  #raise(halt: Halt): boolean {
    if (this.#halt?.level === 'kill' || this.#halt?.level === halt.level) return false;
    this.#halt = halt;
    return true;
  }

  #tell(halt: Halt): void {
    for (const listener of this.#listeners) listener(halt);
  }
}
