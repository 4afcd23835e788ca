/** What `node:util` knows as `inspect.custom`, which is not loaded for it. */
const INSPECTED = Symbol.for('nodejs.util.inspect.custom');

/** A text that is never printed by accident: logs, JSON, templates and `inspect` all show `[redacted]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Called where it leaves the process, and nowhere else. */
  reveal(): string {
    return this.#text;
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
