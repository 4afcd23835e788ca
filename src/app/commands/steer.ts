import { exitCodes } from '../../core/errors.ts';
import { ask, tell, whoami } from './daemon-client.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo } from './io.ts';
import { openWords, plain } from './status.ts';

export interface SteerOptions extends DaemonOptions {
  readonly why?: string | undefined;
  readonly by?: string | undefined;
}

export interface RearmOptions extends SteerOptions {
  readonly withOpenDoubts?: boolean | undefined;
}

export interface TurnOptions extends SteerOptions {
  readonly parent?: string | undefined;
  readonly pair?: string | undefined;
  /** With a pause of the desk: orders that reduce a borrowed balance go on. */
  readonly reducing?: boolean | undefined;
  readonly strategy?: string | undefined;
  /** With a pause of the desk: it ends by itself after this ISO 8601 duration. */
  readonly for?: string | undefined;
}

/**
 * Pause: nothing new begins, what was begun ends. Resume lifts it, also from a parent, a pair or a strategy that a control has paused.
 * Exit codes: 0, 69, 75 when the desk refuses.
 */
export const steer = async (what: 'pause' | 'resume', options: TurnOptions, io: CommandIo): Promise<number> =>
  await command(options, io, `/api/v1/${what}`, {
    why: options.why ?? `tranche ${what}`,
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    ...(options.pair === undefined ? {} : { pair: options.pair }),
    ...(options.reducing === true ? { reducing: true } : {}),
    ...(options.strategy === undefined ? {} : { strategy: options.strategy }),
    ...(options.for === undefined ? {} : { for: options.for }),
  });

export interface ReloadOptions extends SteerOptions {
  readonly dryRun?: boolean | undefined;
}

/** Has the strategies read again, or only says what would change. Exit codes: 0, 69, 75 when a file is not usable. */
export const reload = async (options: ReloadOptions, io: CommandIo): Promise<number> =>
  await command(options, io, '/api/v1/reload', {
    why: options.why ?? 'tranche reload',
    dry_run: options.dryRun ?? false,
  });

/** Lifts a halt. Exit codes: 0, 69, 75 when the desk refuses: open doubts, or a kill. */
export async function rearm(options: RearmOptions, io: CommandIo): Promise<number> {
  const { body } = await ask(options, io, { path: '/api/v1/status' });
  return await command(options, io, '/api/v1/rearm', {
    why: options.why,
    confirm: body['desk'],
    with_open_doubts: options.withOpenDoubts ?? false,
  });
}

/** Sends a command and prints its answer. */
export async function command(
  options: SteerOptions,
  io: CommandIo,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<number> {
  const by = options.by ?? (options.url === undefined ? whoami(io) : undefined);
  const answer = await ask(options, io, { path, body: by === undefined ? body : { ...body, by } });
  tell(io, options.json, answer.body, [...plain(answer.body['says']).split('\n'), ...openWords(answer.body)]);
  return answer.status === 200 ? 0 : exitCodes.again;
}
