/** Whether a failed call may have moved money. */
export type Applied = 'no' | 'unknown';

export type VenueErrorCode =
  | 'connect' // no connection: nothing was sent
  | 'certificate' // the server's certificate was refused: nothing was sent
  | 'timeout' // no complete answer in time
  | 'broken' // the connection ended before the answer did
  | 'too_large' // the answer is larger than its cap
  | 'redirect' // the venue redirected the request: never followed
  | 'unreadable' // not JSON, or not as the interface specifies
  | 'refused' // a well-formed {error}
  | 'unauthorised' // 401 or 403
  | 'rate_limited' // 429
  | 'unavailable' // 5xx
  | 'forbidden_route'; // our own list of allowed routes refused the call

export interface VenueErrorDetail {
  readonly code: VenueErrorCode;
  readonly applied: Applied;
  /** What was attempted: `GET /v1/currency`. */
  readonly attempt: string;
  /** Whether a byte of the request may have been sent. Omitted where it does not apply. */
  readonly sent?: boolean | undefined;
  /** HTTP status when there was one. */
  readonly status?: number | undefined;
  /** Text of the venue, truncated and with control characters replaced. */
  readonly said?: string | undefined;
  /** From `retry-after`, if plausible. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** An error of a call to the venue. The engine branches on `code` and `applied`; the message is for people. */
export class VenueError extends Error {
  override readonly name = 'VenueError';
  readonly code: VenueErrorCode;
  readonly applied: Applied;
  readonly sent: boolean | undefined;
  readonly status: number | undefined;
  readonly said: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor({ code, applied, attempt, sent, status, said, retryAfterMs, cause }: VenueErrorDetail) {
    const answer = status === undefined ? code : `${code} ${status}`;
    super(`${attempt} failed: ${answer}${said === undefined ? '' : ` "${said}"`} (money moved: ${applied})`, {
      cause,
    });
    this.code = code;
    this.applied = applied;
    this.sent = sent;
    this.status = status;
    this.said = said;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Exit codes as in sysexits(3); scripts rely on them. */
export const exitCodes = {
  usage: 64,
  data: 65,
  unavailable: 69,
  software: 70,
  storage: 74,
  again: 75,
  config: 78,
} as const;
export type ExitName = keyof typeof exitCodes;

/** An error whose message is for the operator and whose exit code is fixed. Printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string, cause?: unknown) {
    super(message, { cause });
    this.exit = exit;
  }
}

/** Another owner has taken over the desk, so this process writes and sends nothing more. */
export class FencedOut extends OperatorError {
  constructor(desk: string) {
    super('again', `another owner has taken over desk ${desk}: this process has stopped`);
  }
}

/**
 * A bug, not a business answer: an assumption of the code is false. Ends the process. Pass the message as a function
 * if the check runs often and building the text would cost more than the check.
 */
export function invariant(holds: boolean, message: string | (() => string)): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${typeof message === 'string' ? message : message()}`);
}
