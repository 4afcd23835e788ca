import { stat } from 'node:fs/promises';
import { concatMap, interval } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import type { Config } from '../config/config.ts';
import { readTokenFor } from '../config/credential.ts';
import type { Secret } from '../config/secret.ts';

export interface TokenRotation {
  /** Reads the file now. Returns the result, or `undefined` if the token is unchanged or comes from no file. */
  readonly reread: () => Promise<string | undefined>;
  readonly close: () => void;
}

export interface RotationWorld {
  readonly clock: Clock;
  /** Tries another token with a harmless request. */
  readonly tryToken: (token: Secret) => Promise<TokenTrial>;
  /** Called when the token has its new text, before any request uses it. */
  readonly onReplaced: (token: Secret) => void;
  readonly onRefused: (why: string) => void;
}

/** Reaction of the venue to a token; `no_answer`: inconclusive. */
export type TokenTrial = 'accepted' | 'refused' | 'no_answer';

/** Time between two checks of the file. */
const LOOK_MS = 2_000;

/**
 * Replaces the text of the venue's token when its file contains another one, under the rules of a start. A request
 * reads the token when it is created, so a request in progress completes with the token that it started with. An
 * unusable file, or a file whose token the venue refuses, changes nothing, because the desk would halt on a refused
 * token.
 *
 * The rotation checks the file every two seconds, because a file watch misses a rename over the file, and reads it once
 * two checks in a row show the same state, so that it never reads half a token.
 */
export function tokenRotation({ venue }: Config, world: RotationWorld): TokenRotation {
  const { token, tokenFile: file } = venue;
  if (token === undefined || file === undefined)
    return { reread: async () => await Promise.resolve(undefined), close: () => undefined };

  let isUntried = false;
  const refuse = (why: string): string => {
    world.onRefused(why);
    return `the desk keeps its token: ${why}`;
  };
  const readAndTry = async (): Promise<string | undefined> => {
    isUntried = false;
    const read = readTokenFor(file, [venue.baseUrl, venue.wsUrl]);
    if ('problem' in read) return refuse(read.problem);
    const next = read.token;
    if (next.reveal() === token.reveal()) return undefined;
    const trial = await world.tryToken(next);
    if (trial === 'refused') return refuse(`the venue refuses the token in ${file}`);
    if (trial === 'no_answer') {
      isUntried = true;
      return 'the desk keeps its current token until the venue accepts the new one';
    }
    token.replace(next);
    world.onReplaced(token);
    return 'new requests carry the new token';
  };
  /** The last read. Reads run one after the other, because a signal may arrive during a check. */
  let last: Promise<unknown> = Promise.resolve();
  const reread = async (): Promise<string | undefined> => {
    const next = last.then(readAndTry);
    last = next;
    return await next;
  };

  let read: string | undefined;
  let seen: string | undefined;
  const looking = interval(LOOK_MS, world.clock.scheduler)
    .pipe(
      concatMap(async () => {
        const now = await look(file);
        const isNew = now === seen && now !== read;
        seen = now;
        if (isNew) read = now;
        if (isNew || isUntried) await reread();
      }),
    )
    .subscribe();
  return {
    reread,
    close: () => {
      looking.unsubscribe();
    },
  };
}

/** Returns a text that differs between two states of a file. */
async function look(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return 'not there';
  }
}
