import { Agent, request } from 'undici';
import { SECOND_MS, instant, parseIso } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import type { DeskStatus, Probe } from '../../operate/watchman/probe.ts';
import type { WatchedDesk } from './watch-config.ts';

const ANSWER_MS = 10_000;
/** Largest answer: the status of a desk with a thousand strategies is long. */
const BYTES_MAX = 8 * 1024 * 1024;

export interface DeskAsker {
  /** Queries the desk once. Never rejects, because a missing answer is a result. */
  ask(): Promise<Probe>;
  close(): Promise<void>;
}

/** Creates an asker with one connection, which does not stay open long after an answer. */
export function deskAsker(
  { url, token, ca }: WatchedDesk,
  clock: Pick<Clock, 'wall' | 'monotonic'>,
): DeskAsker {
  const dispatcher = new Agent({
    connections: 1,
    maxResponseSize: BYTES_MAX,
    connect: { timeout: ANSWER_MS, ...(ca === undefined ? {} : { ca }) },
  });
  const get = async (path: string): Promise<Answer> => {
    const { statusCode, headers, body } = await request(`${url}${path}`, {
      dispatcher,
      headers: token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await body.text();
    return { status: statusCode, date: headers['date'], json: jsonOf(text) };
  };
  return {
    async ask() {
      const begun = clock.monotonic();
      let health: Answer;
      try {
        health = await get('/healthz');
      } catch (cause) {
        return { at: clock.wall(), dead: whyNot(cause) };
      }
      const at = clock.wall();
      if (health.status !== 200) return { at, dead: `status ${health.status} of /healthz` };
      const clocks = clockOf(health.date, at, clock.monotonic() - begun);
      try {
        return {
          at,
          clock: clocks,
          notReady: await readyOf(get),
          status: await statusOf(get, token !== undefined),
        };
      } catch (cause) {
        return { at, dead: whyNot(cause) };
      }
    },
    close: async () => {
      await dispatcher.destroy();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly date: unknown;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Parses an answer; one that is not a JSON object has no fields. */
function jsonOf(text: string): Answer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Returns the code of an error, not its message, which may contain the address, including any secret in it. */
function whyNot(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no answer';
  if (cause.name === 'TimeoutError') return 'no answer within ten seconds';
  return 'code' in cause && typeof cause.code === 'string'
    ? `no answer (${cause.code})`
    : `no answer (${cause.name})`;
}

async function readyOf(get: (path: string) => Promise<Answer>): Promise<readonly string[] | undefined> {
  const { status, json } = await get('/readyz');
  if (status === 200) return [];
  // A desk that listens beyond loopback refuses requests without a token.
  if (status === 401 || status === 403) return undefined;
  const reasons = json['reasons'];
  return Array.isArray(reasons) && reasons.length > 0 ? reasons.map(String) : [`status ${status} of /readyz`];
}

async function statusOf(get: (path: string) => Promise<Answer>, hasToken: boolean): Promise<Probe['status']> {
  if (!hasToken) return undefined;
  const { status, json } = await get('/api/v1/status');
  if (status !== 200) return { refused: `status ${status} of /api/v1/status` };
  const chain = await get('/api/v1/chain');
  return { ...shown(json), head: chain.status === 200 ? numberOf(chain.json['seq']) : undefined };
}

function shown(json: Answer['json']): Omit<DeskStatus, 'head'> {
  const strategies = Array.isArray(json['strategies']) ? (json['strategies'] as readonly unknown[]) : [];
  const times = strategies.flatMap((one) => nextOf(one) ?? []);
  return {
    desk: textOf(json['desk']),
    mode: textOf(json['mode']),
    state: textOf(json['state']),
    dataAgeS: numberOf(json['account_read_age_s']),
    recordAgeS: numberOf(json['last_record_age_s']),
    nextAt: times.length === 0 ? undefined : instant(Math.min(...times)),
  };
}

function nextOf(strategy: unknown): Instant | undefined {
  if (typeof strategy !== 'object' || strategy === null || !('next_at' in strategy)) return undefined;
  if ('finished' in strategy && strategy.finished !== undefined) return undefined;
  return typeof strategy.next_at === 'string' ? parseIso(strategy.next_at) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Compares the clocks. The `Date` header has whole seconds, and the desk wrote it at some time during the request. */
function clockOf(date: unknown, at: Instant, tookMs: number): Probe['clock'] {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(theirs)) return undefined;
  return { aheadMs: theirs + SECOND_MS / 2 - (at - tookMs / 2), marginMs: SECOND_MS / 2 + tookMs / 2 };
}
