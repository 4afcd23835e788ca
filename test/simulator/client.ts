import { readBody } from '../../src/wire/message.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import type { RunningVenue, VenueWorld } from '../../src/simulator/venue.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { still, systemClock } from './world.ts';

export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  /** As it came. */
  readonly text: string;
  /** Read without losing digits. */
  readonly body: unknown;
}

export interface VenueUnderTest extends RunningVenue, AsyncDisposable {
  get(path: string, token?: string): Promise<Heard>;
  post(path: string, body: string, token?: string): Promise<Heard>;
}

/** `undefined` where it is not JSON. */
function read(text: string): unknown {
  try {
    return readBody(text);
  } catch {
    return undefined;
  }
}

/** A venue on loopback with a plain client; prices stand still unless `input` says otherwise. */
export async function aVenue(
  input: VenueInput = {},
  world: Partial<VenueWorld> = {},
): Promise<VenueUnderTest> {
  const venue = await startVenue({ ...still, ...input }, { clock: systemClock, ...world });
  const ask = async (
    method: string,
    path: string,
    { body, token }: { body?: string; token?: string | undefined },
  ): Promise<Heard> => {
    const headers = {
      authorization: `Bearer ${token ?? venue.tokens[0] ?? ''}`,
      'content-type': 'application/json',
    };
    const answer = await fetch(`${venue.baseUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: read(text) };
  };
  return {
    ...venue,
    get: async (path, token) => await ask('GET', path, { token }),
    post: async (path, body, token) => await ask('POST', path, { body, token }),
    [Symbol.asyncDispose]: async () => {
      await venue.close();
    },
  };
}
