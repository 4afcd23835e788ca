import { OperatorError } from '../../core/errors.ts';

/** Parsed URL of a journal in a PostgreSQL database. */
export interface PostgresPlace {
  /** For the client library, without the desk. */
  readonly connectionString: string;
  /** Name of the desk whose journal it is. */
  readonly desk: string;
  /** Path prefix of the files that accompany the journal, relative to the working folder. */
  readonly files: string;
  /** For messages. */
  readonly shown: string;
}

const DESK = /^[a-z0-9][a-z0-9_-]{0,62}$/u;
const LOOPBACK = new Set(['', 'localhost', '127.0.0.1', '[::1]']);

export const isPostgres = (url: string): boolean => /^postgres(?:ql)?:\/\//u.test(url);

/**
 * Parses `postgres://user@host:5432/database?desk=NAME`. The password comes from PostgreSQL's password file
 * (`~/.pgpass` or `PGPASSFILE`), never from the URL, which appears in configs and logs. `&files=PATH` is the path
 * prefix of the files on this machine that accompany the journal.
 *
 * @throws OperatorError `config` for a URL without a desk, with a password, or to another host without a verified
 * certificate.
 */
export function readPostgresUrl(url: string): PostgresPlace {
  const parsed = URL.parse(url);
  if (parsed === null || !isPostgres(url))
    throw invalid('expected a URL such as postgres://tranche@db.example:5432/tranche?desk=treasury');
  if (parsed.password !== '')
    throw invalid(
      'the URL contains a password, which would appear in logs. Put it into ~/.pgpass (or the file that PGPASSFILE names) and remove it from the URL',
    );
  const desk = parsed.searchParams.get('desk') ?? '';
  if (!DESK.test(desk))
    throw invalid(
      desk === ''
        ? 'the URL names no desk: add ?desk=NAME'
        : `"${desk}" cannot name a desk: use 1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit`,
    );
  const host = parsed.searchParams.get('host') ?? parsed.hostname;
  const isLocal = host.startsWith('/') || LOOPBACK.has(host);
  if (!isLocal && parsed.searchParams.get('sslmode') !== 'verify-full')
    throw invalid(
      `the connection to ${host} must be encrypted and its certificate verified: add sslmode=verify-full, and sslrootcert=FILE for a certificate authority of your own`,
    );
  const files = parsed.searchParams.get('files') ?? `./var/${desk}.postgres`;
  parsed.searchParams.delete('desk');
  parsed.searchParams.delete('files');
  const address = host.startsWith('/') ? host : parsed.host;
  return {
    connectionString: parsed.href,
    desk,
    files,
    shown: `"${desk}" at postgres://${address}${parsed.pathname}`,
  };
}

/**
 * The URL of a config with its desk; if the URL names none, `desk` of the config. URLs of other journals stay
 * unchanged.
 */
export function withDesk(url: string, desk: string): string {
  const parsed = isPostgres(url) ? URL.parse(url) : null;
  if (parsed === null || parsed.searchParams.has('desk')) return url;
  parsed.searchParams.set('desk', desk);
  return parsed.href;
}

const invalid = (why: string): OperatorError => new OperatorError('config', `journal: ${why}`);
