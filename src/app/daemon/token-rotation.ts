import { stat } from 'node:fs/promises';
import { concatMap, interval } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import type { Config } from '../config/config.ts';
import { readTokenFor } from '../config/credential.ts';
import type { Secret } from '../config/secret.ts';

export interface TokenRotation {
  /** Reads the file now, and returns the result; `undefined` if the token is unchanged, or came from no file. */
  readonly reread: () => Promise<string | undefined>;
  readonly close: () => void;
}

export interface RotationWorld {
  readonly clock: Clock;
  /** Makes a harmless request with another token. */
  readonly tryToken: (token: Secret) => Promise<TokenTrial>;
  /** Called when the token has its new text, which no request has carried yet. */
  readonly onReplaced: (token: Secret) => void;
  readonly onRefused: (why: string) => void;
}

/** The venue's reaction to a token; `no_answer`: nothing conclusive. */
export type TokenTrial = 'accepted' | 'refused' | 'no_answer';

/** Time between two checks at the file. */
const LOOK_MS = 2_000;

/**
 * Replaces the text of the venue's token when its file has another one, under the rules of a start: requests take the text when they are
 * made, so that one under way ends with the token it began with. A file that cannot be used, or whose token the venue refuses, changes
 * nothing: the desk would halt on a token that the venue refuses.
 *
 * The file is looked at every two seconds, as names that are moved over it escape a watch, and read once it has been the same for two
 * looks: half a token is no token.
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
    if (read.token.reveal() === token.reveal()) return undefined;
    const trial = await world.tryToken(read.token);
    if (trial === 'refused') return refuse(`the venue refuses the token in ${file}`);
    if (trial === 'no_answer') {
      isUntried = true;
      return 'the desk keeps its current token until the venue accepts the new one';
    }
    token.replace(read.token);
    world.onReplaced(token);
    return 'new requests carry the new token';
  };
  /** Serialized: a signal may arrive while the file is being checked. */
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

/** Tells one state of a file from the next. */
async function look(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return 'not there';
  }
}
