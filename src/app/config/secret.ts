/** What `node:util` knows as `inspect.custom`, which is not loaded for it. */
const INSPECTED = Symbol.for('nodejs.util.inspect.custom');

/** A text that is never printed by accident: logs, JSON, templates and `inspect` all show `[redacted]`. */
export class Secret {
  /** The newest first. */
  #texts: readonly [string, ...string[]];

  constructor(text: string) {
    this.#texts = [text];
  }

  /** The text itself. Called where it leaves the process, and nowhere else. */
  reveal(): string {
    return this.#texts[0];
  }

  /** All texts that it ever had, the newest first: an old one is as secret as the new one. */
  revealAll(): readonly string[] {
    return this.#texts;
  }

  /** Takes the text of another one from now on. */
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
