import { resolve } from 'node:path';
import { request } from 'undici';
import { OperatorError } from '../../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { withDesk } from '../../../journal/postgres/postgres-url.ts';
import { GUARD_HEADER } from '../../../operate/api/caller.ts';
import { modeOf } from '../../config/config-checks.ts';
import { findDaemon } from '../../daemon/control-file.ts';
import type { FoundDaemon } from '../../daemon/control-file.ts';
import { readFile } from '../../config/files.ts';
import type { DaemonOptions } from '../../cli/options.ts';
import type { CommandIo } from '../io.ts';

const DEFAULT_DESK = 'main';
const DEFAULT_JOURNAL = 'sqlite:./var/{mode}.db';

/**
 * Finds the daemon that runs on the journal of a config. Reads no more of the config than it needs, because a person
 * who stops a desk at night may have neither its token nor a config without mistakes.
 */
export function locate({ config, journal, mode }: DaemonOptions, io: CommandIo): FoundDaemon {
  if (journal !== undefined) return findDaemon(/^[a-z]+:/u.test(journal) ? journal : `sqlite:${journal}`);
  const path = resolve(io.cwd, config);
  const { documents, problems } = readFile(path, { cwd: io.cwd, env: io.env });
  const [document] = documents;
  if (document === undefined)
    throw new OperatorError(
      'config',
      `${problems[0]?.message ?? 'there is no config'}: ${path}. Name it with --config, or the journal with --journal`,
    );
  const { value } = document;
  const named = typeof value === 'object' && value !== null && 'journal' in value ? value.journal : undefined;
  const desk =
    typeof value === 'object' && value !== null && 'desk' in value ? String(value.desk) : DEFAULT_DESK;
  const pattern = withDesk(typeof named === 'string' ? named : DEFAULT_JOURNAL, desk);
  return findDaemon(pattern.replaceAll('{mode}', mode ?? modeOf(document) ?? 'paper'));
}

/** The response of a desk: its status and JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Longest wait for the daemon's response. A halt does not depend on the response. */
const TIMEOUT_MS = 5_000;

/**
 * Sends a request to the daemon and returns its response.
 *
 * @throws OperatorError `unavailable` when no daemon can be reached, `config` when the daemon rejects the token.
 */
export async function ask(
  options: DaemonOptions,
  io: CommandIo,
  what: { readonly path: string; readonly body?: Readonly<Record<string, unknown>> },
): Promise<Answer> {
  const found = options.url === undefined ? locate(options, io) : undefined;
  const url = options.url ?? found?.control?.url;
  // The variable may hold a token of the venue, for the account commands, so it goes only to a URL that the operator names.
  const token = options.url === undefined ? found?.control?.token : io.env['TRANCHE_OPERATOR_TOKEN'];
  if (url === undefined) throw noDaemon(found);
  if (token === undefined)
    throw new OperatorError(
      'config',
      `set TRANCHE_OPERATOR_TOKEN to a token of ${url}: operate.tokens lists who has one`,
    );
  return accepted(await exchange(url, token, what), what.path);
}

/** Returns a response of the desk, whose status is 200 or 409, or the status of a standby. @throws OperatorError for any other response. */
function accepted(answer: Answer, path: string): Answer {
  if (isStandby(answer)) {
    if (path === STATUS) return answer;
    throw new OperatorError(
      'again',
      `${wordsOf(answer.body)}. Send the command there, with --url and TRANCHE_OPERATOR_TOKEN`,
    );
  }
  if (answer.status === 401 || (answer.status === 403 && typeof answer.body['error'] === 'string'))
    throw new OperatorError('config', `the daemon refused the command: ${wordsOf(answer.body)}`);
  if (answer.status === 400) throw new OperatorError('usage', wordsOf(answer.body));
  if (answer.status !== 200 && answer.status !== 409)
    throw new OperatorError(
      'software',
      `the daemon responded with ${answer.status}: ${wordsOf(answer.body)}`,
    );
  return answer;
}

async function exchange(
  url: string,
  token: string,
  { path, body }: { readonly path: string; readonly body?: Readonly<Record<string, unknown>> },
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  try {
    const { statusCode, body: answer } = await request(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers:
        body === undefined
          ? headers
          : { ...headers, 'content-type': 'application/json', [GUARD_HEADER]: '1' },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      reset: true,
    });
    const told: unknown = await answer.json();
    return { status: statusCode, body: typeof told === 'object' && told !== null ? { ...told } : {} };
  } catch (cause) {
    throw new OperatorError('unavailable', `the daemon at ${url} did not respond: ${reasonOf(cause)}`, cause);
  }
}

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : String(cause);

const wordsOf = ({ error, says }: Answer['body']): string =>
  typeof error === 'string' ? error : typeof says === 'string' ? says : 'no reason given';

const noDaemon = (found: FoundDaemon | undefined): OperatorError =>
  new OperatorError(
    'unavailable',
    found?.control === undefined
      ? `no daemon runs on the journal ${found?.journal ?? ''}. Start it with tranche run, or name another with --config or --journal`
      : `process ${found.control.pid} runs on ${found.journal}, but its config has operate: false, so it accepts no commands`,
  );

export const STATUS = '/api/v1/status';

/** Whether a process responded that only waits to take over the desk. It executes no command and forwards none. */
export const isStandby = ({ status, body }: Answer): boolean => status === 503 && body['standby'] === true;

/** Prints one line of JSON, or words for people. */
export function tell(
  io: CommandIo,
  json: boolean | undefined,
  body: unknown,
  words: readonly string[],
): void {
  if (json === true) io.stdout.write(`${escapeMarks(JSON.stringify(body))}\n`);
  else for (const line of words) io.stdout.write(`${forTerminal(line)}\n`);
}
