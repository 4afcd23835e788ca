/** A refused request: its status and a message. */
export class Refusal extends Error {
  readonly statusCode: number;
  readonly isForClient = true;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Text for the client if `error` is a refusal by the API; `undefined` for everything else. */
export const refusalText = (error: unknown): string | undefined =>
  error instanceof Refusal ? error.message : undefined;

/** The response to an address that guesses tokens. */
export const SLOWER = 'this address has sent too many wrong tokens: wait a few seconds';
