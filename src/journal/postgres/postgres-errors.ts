import { OperatorError } from '../../core/errors.ts';

/** An error of the server or of its connection as plain data, which can be sent to another thread. */
export interface FaultFacts {
  readonly message: string;
  /** SQLSTATE of the server; undefined for a fault of the connection. */
  readonly code?: string | undefined;
}

/** A statement or its connection failed. */
export class PostgresFault extends Error {
  override readonly name = 'PostgresFault';
  readonly code: string | undefined;

  constructor({ message, code }: FaultFacts) {
    super(message);
    this.code = code;
  }
}

const SQLSTATE = /^[0-9A-Z]{5}$/u;

export function factsOf(error: unknown): FaultFacts {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // If several addresses of one name failed, the library reports an empty message with the individual errors.
  const message = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message;
  return {
    message: message === '' ? (code ?? error.name) : message,
    ...(code !== undefined && SQLSTATE.test(code) && { code }),
  };
}

/**
 * Whether the same statements may succeed on another connection or later, because the server restarts or fails over,
 * the network is down, too many connections are open, or a lock was not free in time.
 */
export function isTransient({ code }: FaultFacts): boolean {
  if (code === undefined) return true;
  return (
    code.startsWith('08') ||
    code.startsWith('57P') ||
    ['25006', '40001', '40P01', '53300', '55P03', '57014'].includes(code)
  );
}

/** The error for the operator when a journal in PostgreSQL cannot be used. */
export function storageFault(shown: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { message, code } = factsOf(error);
  const place = `journal ${shown}`;
  if (code === '28P01' || code === '28000')
    return new OperatorError(
      'config',
      `${place}: the server refuses the login: ${message}. Check the user in the URL and its password in ~/.pgpass`,
      error,
    );
  if (code === '42501')
    return new OperatorError(
      'config',
      `${place}: the role lacks a privilege: ${message}. Run "tranche journal prepare URL --grant ROLE" for this desk as the owner of the database`,
      error,
    );
  if (code === '3D000')
    return new OperatorError('config', `${place}: ${message}. Create the database first`, error);
  return new OperatorError('storage', `${place} cannot be used: ${message}`, error);
}
