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
  /** Where the token survives this process; absent: only in its file. */
  readonly keeper?: TokenKeeper | undefined;
}

/** Hands the token on to the next owner of the desk. */
export interface TokenKeeper {
  /** Why this token of a file is not even tried; `undefined`: it may be. */
  refusalOf(token: Secret): string | undefined;
  /** Makes a token durable. Rejects: it is not certain to be, and must not be used yet. */
  keep(token: Secret): Promise<void>;
  /** The token that another process has stored since the last call. */
  newer(): Promise<Secret | undefined>;
}

/** The venue's reaction to a token; `no_answer`: nothing conclusive. */
export type TokenTrial = 'accepted' | 'refused' | 'no_answer';

/** Time between two checks at the file. */
const LOOK_MS = 2_000;
/** The store is queried at every fifteenth check. */
const LOOKS_PER_READ = 15;

/**
 * Replaces the text of the venue's token when its file has another one, under the rules of a start: a request reads the token when it is
 * created, so a request in progress ends with the token that it started with. A file that cannot be used, or whose token the venue
 * refuses, changes nothing: the desk would halt on a token that the venue refuses.
 *
 * The file is checked every two seconds, because a file watch misses a rename over it, and read once it has been unchanged for two
 * checks: half a token is no token.
 *
 * With a keeper the token is durable there before a request carries it, and one that a person puts there is taken as well.
 */
export function tokenRotation({ venue }: Config, world: RotationWorld): TokenRotation {
  const { token, tokenFile: file } = venue;
  const { keeper } = world;
  if (token === undefined || (file === undefined && keeper === undefined))
    return { reread: async () => await Promise.resolve(undefined), close: () => undefined };

  let isUntried = false;
  /** From the keeper, until the venue has answered. */
  let given: Secret | undefined;
  let lastTrouble: string | undefined;
  const refuse = (why: string): string => {
    world.onRefused(why);
    return `the desk keeps its token: ${why}`;
  };
  /** Once for each trouble: it is tried again every two seconds. */
  const trouble = (error: unknown): string => {
    const why = `the store of its tokens: ${error instanceof Error ? error.message : String(error)}`;
    if (why !== lastTrouble) world.onRefused(why);
    lastTrouble = why;
    return `the desk keeps its token: ${why}`;
  };
  const use = (next: Secret): string => {
    lastTrouble = undefined;
    token.replace(next);
    world.onReplaced(token);
    return 'new requests carry the new token';
  };
  const UNANSWERED = 'the desk keeps its current token until the venue accepts the new one';

  const takeGiven = async (): Promise<string | undefined> => {
    if (keeper === undefined) return undefined;
    try {
      given = (await keeper.newer()) ?? given;
    } catch (error) {
      return trouble(error);
    }
    if (given === undefined) return undefined;
    const next = given;
    const trial = next.reveal() === token.reveal() ? undefined : await world.tryToken(next);
    if (trial === 'no_answer') {
      isUntried = true;
      return UNANSWERED;
    }
    given = undefined;
    if (trial === undefined) return undefined;
    if (trial === 'accepted') return use(next);
    // The next owner must not start with it.
    await keeper.keep(token).catch(trouble);
    return refuse('the venue refuses the token that was put into the store');
  };

  const readAndTry = async (): Promise<string | undefined> => {
    isUntried = false;
    const taken = await takeGiven();
    if (taken !== undefined || file === undefined) return taken;
    const read = readTokenFor(file, [venue.baseUrl, venue.wsUrl]);
    if ('problem' in read) return refuse(read.problem);
    const next = read.token;
    if (next.reveal() === token.reveal()) return undefined;
    const refusal = keeper?.refusalOf(next);
    if (refusal !== undefined) return `the desk keeps its token: the token in ${file} ${refusal}`;
    const trial = await world.tryToken(next);
    if (trial === 'refused') return refuse(`the venue refuses the token in ${file}`);
    if (trial === 'no_answer') {
      isUntried = true;
      return UNANSWERED;
    }
    try {
      await keeper?.keep(next);
    } catch (error) {
      isUntried = true;
      return trouble(error);
    }
    return use(next);
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
      concatMap(async (looks) => {
        const now = file === undefined ? undefined : await look(file);
        const isNew = now === seen && now !== read;
        seen = now;
        if (isNew) read = now;
        const isToAsk = keeper !== undefined && looks % LOOKS_PER_READ === LOOKS_PER_READ - 1;
        if (isNew || isUntried || isToAsk) await reread();
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
