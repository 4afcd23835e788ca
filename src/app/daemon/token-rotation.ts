import { stat } from 'node:fs/promises';
import { concatMap, interval } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import type { Config } from '../config/config.ts';
import { readTokenFor } from '../config/credential.ts';
import type { Secret } from '../config/secret.ts';

export interface TokenRotation {
  /** Reads the file now, and says what came of it; `undefined` where the token is the one in use, or came from no file. */
  readonly reread: () => string | undefined;
  readonly close: () => void;
}

export interface RotationWorld {
  readonly clock: Clock;
  /** The token has its new text, which nothing has carried yet. */
  readonly onReplaced: (token: Secret) => void;
  readonly onRefused: (why: string) => void;
}

/** Time between two looks at the file. */
const LOOK_MS = 2_000;

/**
 * Replaces the text of the venue's token when its file has another one, under the rules of a start: requests take the text when they are
 * made, so that one under way ends with the token it began with. A file that cannot be used changes nothing.
 *
 * The file is looked at every two seconds, as names that are moved over it escape a watch, and read once it has been the same for two
 * looks: half a token is no token.
 */
export function tokenRotation({ venue }: Config, world: RotationWorld): TokenRotation {
  const { token, tokenFile: file } = venue;
  if (token === undefined || file === undefined) return { reread: () => undefined, close: () => undefined };

  const reread = (): string | undefined => {
    const read = readTokenFor(file, [venue.baseUrl, venue.wsUrl]);
    if ('problem' in read) {
      world.onRefused(read.problem);
      return `the desk keeps its token: ${read.problem}`;
    }
    if (read.token.reveal() === token.reveal()) return undefined;
    token.replace(read.token);
    world.onReplaced(token);
    return 'new requests carry the new token';
  };

  let read: string | undefined;
  let seen: string | undefined;
  const looking = interval(LOOK_MS, world.clock.scheduler)
    .pipe(concatMap(async () => await look(file)))
    .subscribe((now) => {
      if (now === seen && now !== read) {
        read = now;
        reread();
      }
      seen = now;
    });
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
