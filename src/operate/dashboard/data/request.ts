import { signal } from '@preact/signals';
import { fromJson } from './json.ts';
import type { Me } from './shapes.ts';

/** The signed-in person; `undefined` until the desk has responded. */
export const me = signal<Me | undefined>(undefined);
/** The desk does not recognise this browser, which must sign in. */
export const isSignedOut = signal(false);

/** The desk refused a request, or could not be reached, in which case `status` is 0. */
export class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Timeout of a request to the desk. */
const ANSWER_MS = 15_000;

/** Reads a route. In `query`, values that are `undefined` or empty are omitted. */
export async function get<T>(
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
  abort?: AbortSignal,
): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return await answerOf<T>(`/api/v1/${path}${search === '' ? '' : `?${search}`}`, {
    signal: abort ?? AbortSignal.timeout(ANSWER_MS),
  });
}

/** Sends a command, with headers that a page of another origin cannot send. */
export async function post<T>(path: string, body: object): Promise<T> {
  const csrf = me.value?.csrf;
  return await answerOf<T>(`/api/v1/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: {
      'content-type': 'application/json',
      'x-tranche': '1',
      ...(csrf === undefined ? {} : { 'x-tranche-csrf': csrf }),
    },
  });
}

async function answerOf<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin' });
  } catch {
    throw new RequestError(0, 'the desk does not respond');
  }
  const body = await bodyOf(response);
  if (response.status === 401) isSignedOut.value = true;
  if (!response.ok) throw new RequestError(response.status, wordsOf(body) ?? `status ${response.status}`);
  return body as T;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return fromJson(await response.text());
  } catch {
    return undefined;
  }
}

function wordsOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, says } = body as { error?: unknown; says?: unknown };
  if (typeof error === 'string') return error;
  return typeof says === 'string' ? says : undefined;
}

/** The error message for people. */
export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Asks the desk who is signed in. */
export async function readMe(): Promise<void> {
  me.value = await get<Me>('me');
  isSignedOut.value = false;
}
