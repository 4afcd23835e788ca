import { closeSync, constants, fstatSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { destination as openDestination, pino } from 'pino';
import type { Logger } from 'pino';
import { OperatorError } from '../core/errors.ts';
import { redactor } from '../core/text/redact.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { escapeMarks } from '../core/text/escape.ts';
import { plainFields } from './plain.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Path of a file to append to (created readable only by its owner); standard error when absent. */
  readonly file?: string | undefined;
  /** Size at which a file becomes `FILE.1`, replacing the previous one. Default: 250 MB. */
  readonly fileBytesMax?: number | undefined;
  /** Wall time for the lines. */
  readonly now: () => Instant;
  /** Tokens in use, which are redacted from every line, even within other text. */
  readonly secrets?: readonly LogSecret[] | undefined;
}

export interface LogSecret {
  /** Includes earlier tokens, because a token may be replaced while the log is open. */
  revealAll(): readonly string[];
}

/** Writes one JSON object per line. No method throws or waits, because a log must never stop or delay a trade. */
export interface Log {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  /** A log that adds `fields` to each of its lines. */
  with(fields: object): Log;
  /** Writes buffered lines. Later lines are dropped. */
  close(): void;
}

/** Bytes that may wait for a slow reader. Beyond that, lines are dropped. */
const HELD_MAX_BYTES = 1_048_576;
/** Attempts, 100 ms apart, to write the last lines to a blocked reader before the process ends. */
const LAST_TRIES = 10;
/** More than the number of chunks that buffered output has. A chunk takes a tenth of a second if writing fails. */
const FLUSH_TRIES = 200;

/** Maximum size of one file. Together with the previous file, a log takes twice as much. */
const FILE_BYTES_MAX = 250_000_000;

/** @throws OperatorError `storage` when the file cannot be written. */
export function createLog({
  level,
  file,
  fileBytesMax = FILE_BYTES_MAX,
  now,
  secrets = [],
}: LogOptions): Log {
  let inode = file === undefined ? 0 : inodeOf(file);
  let tries = Number.POSITIVE_INFINITY;
  const out = openDestination({
    dest: file ?? process.stderr.fd,
    mode: 0o600,
    // Standard error may have a slow reader; for a file, pending lines would be lost or reordered at the end.
    sync: file !== undefined,
    maxLength: HELD_MAX_BYTES,
    retryEAGAIN: () => tries-- > 0,
  });
  // A closed reader (EPIPE) or a full disk: the daemon continues without its log.
  out.on('error', () => undefined);

  const clean = cleaner(secrets);
  const measured = (line: string): string => {
    const cleaned = clean(line);
    try {
      if (file !== undefined) follow(file, Buffer.byteLength(cleaned));
    } catch {
      // Without a new file, the line goes to the old one.
    }
    return cleaned;
  };
  /** Opens a new file if the old one is full, was renamed, or was removed, as logrotate does. */
  const follow = (path: string, length: number): void => {
    const there = statSync(path, { throwIfNoEntry: false });
    const isFull = there !== undefined && there.size + length > fileBytesMax;
    if (isFull) renameSync(path, `${path}.1`);
    if (!isFull && there?.ino === inode) return;
    const created = inodeOf(path);
    out.reopen();
    inode = created;
  };
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${isoOf(now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: measured },
    },
    out,
  );
  let isOpen = true;

  return face(logger, () => isOpen, () => {
    if (!isOpen) return;
    isOpen = false;
    tries = LAST_TRIES;
    try {
      // A file is written synchronously. Otherwise, a refused write, for example on a full disk, would be retried
      // endlessly.
      if (file === undefined) flush(out);
      out.end();
    } catch {
      // The reader is gone, and nobody is left to whom this could be reported.
      out.destroy(); // otherwise it would retry as the process ends
    }
  }); // prettier-ignore
}

/**
 * Writes the buffered output. Without a reader (EPIPE), it would retry forever. Each attempt therefore first checks the
 * descriptor, and only EAGAIN without a retry ends the loop.
 */
function flush(out: ReturnType<typeof openDestination>): void {
  const fd = process.stderr.fd;
  let left = FLUSH_TRIES;
  const get = (): number => {
    if (left-- > 0) return fd;
    throw Object.assign(new Error('the reader of the log is too slow or gone'), { code: 'EAGAIN' });
  };
  Object.defineProperty(out, 'fd', { configurable: true, get });
  try {
    out.flushSync();
  } finally {
    Object.defineProperty(out, 'fd', { configurable: true, writable: true, value: fd });
  }
}

function face(logger: Logger, isOpen: () => boolean, close: () => void): Log {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: object) => {
    if (!isOpen() || !logger.isLevelEnabled(level)) return;
    try {
      logger[level](fields === undefined ? {} : plainFields(fields), '%s', message);
    } catch {
      // The failure concerned only a log line.
    }
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => face(logger.child({ ...plainFields(fields) }), isOpen, close),
    close,
  };
}

/**
 * Redacts secrets in a finished line, and escapes characters that JSON allows but terminals act on: DEL, the C1
 * controls, line separators, and marks that reverse text. In JSON, they occur only inside strings.
 */
export function cleaner(secrets: readonly LogSecret[]): (line: string) => string {
  let known: readonly string[] = [];
  let redact = redactor(known);
  return (line) => {
    const all = secrets.flatMap((secret) => secret.revealAll());
    if (all.length !== known.length) {
      known = all;
      redact = redactor(all);
    }
    const cleaned = redact.clean(line);
    return redact.holds(cleaned) ? UNCLEAN : escapeMarks(cleaned);
  };
}

/** Replaces a line that contains a secret in encoded form. */
const UNCLEAN = '{"level":"error","msg":"[redacted]: a line that contained an encoded secret"}\n';

/** Returns the inode of the file, which is created if it does not exist. @throws OperatorError `storage` when it cannot be written. */
function inodeOf(file: string): number {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // The file with this name must not be a link to something else.
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    const descriptor = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      return fstatSync(descriptor).ino;
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError('storage', `cannot write the log to log.file: ${why}`, cause);
  }
}
