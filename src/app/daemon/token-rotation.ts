import { stat } from 'node:fs/promises';
import { concatMap, interval } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import type { Config } from '../config/config.ts';
import { readTokenFor } from '../config/credential.ts';
import type { Secret } from '../config/secret.ts';

export interface TokenRotation {
  /** Reads the store and the file now. Returns the result, or `undefined` if the token is unchanged or comes from neither. */
  readonly reread: () => Promise<string | undefined>;
  readonly close: () => void;
}

export interface RotationWorld {
  readonly clock: Clock;
  /** Tries another token with a harmless request. */
  readonly tryToken: (token: Secret) => Promise<TokenTrial>;
  /** Called when the token has its new text, before any request carries it. */
  readonly onReplaced: (token: Secret) => void;
  readonly onRefused: (why: string) => void;
  /** Keeps the token beyond this process; absent if only its file does. */
  readonly keeper?: TokenKeeper | undefined;
}

/** Passes the token on to the next owner of the desk. */
export interface TokenKeeper {
  /** Returns why a token from a file must not be tried, or `undefined` if it may be. */
  refusalOf(token: Secret): string | undefined;
  /** Makes a token durable. Rejects if that is not certain, in which case the token must not be used yet. */
  keep(token: Secret): Promise<void>;
  /** Returns the token that another process has stored since the last call, if any. */
  newer(): Promise<Secret | undefined>;
}

/** Reaction of the venue to a token; `no_answer`: inconclusive. */
export type TokenTrial = 'accepted' | 'refused' | 'no_answer';

/** Time between two checks of the file. */
const LOOK_MS = 2_000;
/** Number of checks of the file for each query of the store. */
const LOOKS_PER_READ = 15;

/**
 * Replaces the text of the venue's token when its file contains another one, under the rules of a start. A request reads the token when it
 * is created, so a request in progress ends with the token that it started with. An unusable file, or one whose token the venue refuses,
 * changes nothing: the desk would halt on a refused token.
 *
 * The rotation checks the file every two seconds, because a file watch misses a rename over the file, and reads it once two checks in a row
 * show the same state, so that it never reads half a token.
 *
 * With a keeper, the token is durable there before a request carries it, and the rotation also takes a token that a person puts there.
 */
export function tokenRotation({ venue }: Config, world: RotationWorld): TokenRotation {
  const { token, tokenFile: file } = venue;
  const { keeper } = world;
  if (token === undefined || (file === undefined && keeper === undefined))
    return { reread: async () => await Promise.resolve(undefined), close: () => undefined };

  let isUntried = false;
  /** Token from the keeper, until the venue has answered. */
  let given: Secret | undefined;
  let lastTrouble: string | undefined;
  const refuse = (why: string): string => {
    world.onRefused(why);
    return `the desk keeps its token: ${why}`;
  };
  /** Reports an error of the store once: the rotation tries again every two seconds. */
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
    // The next owner must not start with the refused token.
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

/** Returns a text that differs between two states of a file. */
async function look(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return 'not there';
  }
}
