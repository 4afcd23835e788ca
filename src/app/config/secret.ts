/** The symbol `inspect.custom` of `node:util`, obtained without loading that module. */
const INSPECTED = Symbol.for('nodejs.util.inspect.custom');

/** A string that nothing prints by accident. Logs, JSON, templates and `inspect` all show `[redacted]`. */
export class Secret {
  /** Newest first. */
  #texts: readonly [string, ...string[]];

  constructor(text: string) {
    this.#texts = [text];
  }

  /** Returns the secret itself. Call this only where the secret leaves the process. */
  reveal(): string {
    return this.#texts[0];
  }

  /** Returns all values that the secret has ever had, newest first, because previous values must stay secret too. */
  revealAll(): readonly string[] {
    return this.#texts;
  }

  /** Replaces the current value with that of another secret. */
  replace(next: Secret): void {
    this.#texts = [next.reveal(), ...this.#texts];
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [INSPECTED](): string {
    return REDACTED;
  }
}

export const REDACTED = '[redacted]';
