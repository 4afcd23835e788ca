import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { parseDuration } from '../../core/time.ts';
import type { WatchLimits } from '../../operate/watchman/conditions.ts';
import { durationText } from '../../strategy/fields.ts';
import { isPostgres } from '../../journal/postgres/postgres-url.ts';
import { addressProblem } from '../../venue/origin.ts';
import { readCertificates } from '../config/authority.ts';
import { readSecretFile } from '../config/credential.ts';
import { unusable } from '../config/config.ts';
import { explain } from '../config/explain.ts';
import { problemAt, readFile, shownPath } from '../config/files.ts';
import type { FileProblem } from '../config/problems.ts';
import { Secret } from '../config/secret.ts';
import type { Environment, YamlDocument } from '../config/yaml.ts';
import { readNotify } from '../notify/notify-config.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { notifySchema } from '../notify/notify-schema.ts';

/** A desk to monitor. */
export interface WatchedDesk {
  readonly name: string;
  /** URL, without a trailing slash. */
  readonly url: string;
  /** Token of a viewer; `undefined`: the watchman queries only health and readiness. */
  readonly token: Secret | undefined;
  /** Certificates of the only authorities to trust, PEM. */
  readonly ca: string | undefined;
}

export interface WatchConfig {
  readonly desks: readonly WatchedDesk[];
  /** Database of a fleet, whose desks are all watched. */
  readonly store: string | undefined;
  readonly everyMs: number;
  readonly limits: WatchLimits;
  readonly notify: NotifyConfig | undefined;
}

const duration = (otherwise: string, what: string) =>
  durationText
    .transform(parseDuration)
    .prefault(otherwise)
    .describe(`${what}, ISO 8601; default: ${otherwise}`);

const url = z.string().refine((text) => addressProblem(text, 'http') === undefined, {
  error: 'expected an https:// URL, or http:// on this machine, without user, password or query',
});

/** Schema of the file of `tranche watch`. */
export const watchSchema = z.strictObject({
  desks: z
    .array(
      z.strictObject({
        url: url.describe('URL of the desk, as in operate.listen'),
        name: z
          .string()
          .regex(/^[\w.-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . _ -' })
          .optional()
          .describe('Name in messages; default: host and port'),
        token_file: z
          .string()
          .min(1)
          .optional()
          .describe(
            'File that contains a token with the viewer role, readable by its owner only; relative to this file',
          ),
        ca_file: z
          .string()
          .min(1)
          .optional()
          .describe('Certificates of a private authority, PEM; relative to this file'),
      }),
    )
    .max(100)
    .default([])
    .describe('Desks to watch, in addition to those on the command line'),
  store: z
    .string()
    .refine(isPostgres, { error: 'expected postgres://user@host/database' })
    .optional()
    .describe('Database of a fleet; the watchman watches all its desks'),
  every: duration('PT15S', 'Time between two checks').refine((ms) => ms >= 1_000, {
    error: 'expected at least PT1S',
  }),
  silent_after: duration(
    'PT1M',
    'Longest time that a desk may be silent or not ready before people are notified',
  ),
  data_age: duration('PT5M', 'Longest time since the last account read'),
  stuck_after: duration('PT5M', 'Longest time that a strategy may be due without a new record'),
  clock: duration('PT5S', 'Largest difference between the clocks'),
  notify: notifySchema
    .optional()
    .describe('Notifications, with the same settings as operate.notify in the config of a desk'),
});

/** Returns the settings if there is no file. */
export const watchDefaults = (): z.output<typeof watchSchema> => watchSchema.parse({});

export interface WatchOptions {
  readonly urls: readonly string[];
  readonly config?: string | undefined;
  /** Token file for the desks that the command line names. */
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
}

/** Reads what to watch. @throws OperatorError `config` with every problem of the file, `usage` for a mistake in the arguments. */
export function readWatchConfig(
  options: WatchOptions,
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): WatchConfig {
  const file = options.config === undefined ? undefined : resolve(cwd, options.config);
  const read = file === undefined ? undefined : documentOf(file, { cwd, env });
  const raw = read?.raw ?? watchDefaults();
  const folder = file === undefined ? cwd : dirname(file);
  const problems: FileProblem[] = [];
  const refuse = (i: number, key: string, message: string): undefined => {
    if (read !== undefined) problems.push(read.document.problem(['desks', i, key], message));
    return undefined;
  };
  const own = raw.desks.map((desk, i): WatchedDesk => ({
    ...namedDesk(desk.url, desk.name),
    token: tokenIn(desk.token_file, folder, env, (why) => refuse(i, 'token_file', why)),
    ca: caIn(desk.ca_file, folder, (why) => refuse(i, 'ca_file', why)),
  }));
  const usage = (why: string): never => {
    throw new OperatorError('usage', why);
  };
  const [store, second] = [
    ...(raw.store === undefined ? [] : [raw.store]),
    ...options.urls.filter(isPostgres),
  ];
  if (second !== undefined) usage('a watchman watches one store: start another for the second');
  const given = options.urls
    .filter((address) => !isPostgres(address))
    .map((address): WatchedDesk => {
      const problem = addressProblem(address, 'http');
      if (problem !== undefined) usage(`${address}: ${problem}`);
      return {
        ...namedDesk(address, undefined),
        token: tokenIn(options.tokenFile, cwd, env, (why) => usage(`--token-file: ${why}`)),
        ca: caIn(options.caFile, cwd, (why) => usage(`--ca-file: ${why}`)),
      };
    });
  const desks = [...own, ...given];
  const twice = desks.find(({ name }, i) => desks.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined)
    usage(`two desks have the name ${twice.name}: give each its own, with name: in the file`);
  const notify =
    read === undefined || raw.notify === undefined
      ? undefined
      : readNotify(raw.notify, { document: read.document, path: ['notify'], folder, env });
  problems.push(...(notify?.problems ?? []));
  if (problems.length > 0) throw unusable(problems);
  if (desks.length === 0 && store === undefined)
    usage(
      'name the desks to watch: tranche watch https://desk.example:8321, postgres://… for a fleet, or desks: in the file of --config',
    );
  return {
    desks,
    store,
    everyMs: raw.every,
    limits: {
      silentMs: raw.silent_after,
      dataAgeMs: raw.data_age,
      stuckMs: raw.stuck_after,
      clockMs: raw.clock,
    },
    notify: notify?.notify,
  };
}

function documentOf(
  file: string,
  options: { readonly cwd: string; readonly env: Environment },
): { readonly document: YamlDocument; readonly raw: z.output<typeof watchSchema> } {
  const { documents, problems } = readFile(file, options);
  const [document] = documents;
  if (problems.length > 0) throw unusable(problems);
  if (document === undefined)
    throw unusable([
      problemAt(shownPath(file, options.cwd), `the file is empty: add desks: to ${basename(file)}`),
    ]);
  const parsed = watchSchema.safeParse(document.value);
  if (!parsed.success) throw unusable(explain(parsed.error, watchSchema, document));
  return { document, raw: parsed.data };
}

const namedDesk = (address: string, name: string | undefined): Pick<WatchedDesk, 'name' | 'url'> => {
  const bare = address.replace(/\/+$/u, '');
  return { url: bare, name: name ?? URL.parse(bare)?.host ?? bare };
};

function tokenIn(
  file: string | undefined,
  folder: string,
  env: Environment,
  refuse: (why: string) => undefined,
): Secret | undefined {
  if (file === undefined) return undefined;
  const read = readSecretFile(resolve(folder, file), env);
  if ('problem' in read) return refuse(read.problem);
  return /^[\x21-\x7e]{16,4096}$/u.test(read.text)
    ? new Secret(read.text)
    : refuse('expected one line of 16 to 4096 letters, digits and signs');
}

function caIn(
  file: string | undefined,
  folder: string,
  refuse: (why: string) => undefined,
): string | undefined {
  if (file === undefined) return undefined;
  const read = readCertificates(resolve(folder, file));
  return 'problem' in read ? refuse(read.problem) : read.pem;
}
