import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { ask, tell } from './daemon-client.ts';
import { whoami } from '../io.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo, Given } from '../io.ts';
import { openWords, plain } from './status.ts';

export type SteerOptions = DaemonOptions & Given<'why' | 'by'>;

export interface RearmOptions extends SteerOptions {
  readonly withOpenDoubts?: boolean | undefined;
}

export type TurnOptions = SteerOptions & Given<'parent' | 'pair' | 'strategy' | 'what' | 'for', 'reducing'>;

/**
 * Pauses or resumes trading. A pause starts nothing new and lets attempts under way finish. A resume also lifts a pause
 * that a control imposed on a parent, a pair or a strategy. Exit codes: 0, 69, 75 when the desk refuses.
 */
export async function steer(
  turn: 'pause' | 'resume',
  { what, ...options }: TurnOptions,
  io: CommandIo,
): Promise<number> {
  const { parent, pair, strategy } = options;
  const named = what === undefined ? { parent, pair, strategy } : await scopeNamed(what, options, io);
  return await command(options, io, `/api/v1/${turn}`, {
    why: options.why ?? `tranche ${turn}`,
    ...Object.fromEntries(Object.entries(named).filter(([, name]) => name !== undefined)),
    ...(options.reducing === true ? { reducing: true } : {}),
    ...(options.for === undefined ? {} : { for: options.for }),
  });
}

/**
 * Finds the scope that has this name; a paused scope takes precedence. @throws OperatorError `usage` when an option
 * names a scope too.
 */
async function scopeNamed(
  what: string,
  options: TurnOptions,
  io: CommandIo,
): Promise<Readonly<Record<string, string>>> {
  if (options.parent !== undefined || options.pair !== undefined || options.strategy !== undefined)
    throw new OperatorError('usage', `give either ${what} or the option, not both`);
  const { body } = await ask(options, io, { path: '/api/v1/status' });
  const {
    strategies = [],
    prices = [],
    paused = {},
  } = body as {
    readonly strategies?: readonly { readonly id: string }[];
    readonly prices?: readonly { readonly pair: string }[];
    readonly paused?: Readonly<Record<string, string>>;
  };
  const known = ['strategy', 'pair', 'parent'].find((kind) => Object.hasOwn(paused, `${kind}:${what}`));
  if (known !== undefined) return { [known]: what };
  if (strategies.some(({ id }) => id === what)) return { strategy: what };
  return prices.some(({ pair }) => pair === what) ? { pair: what } : { parent: what };
}

/** Stops one strategy permanently. Exit codes: 0, 69, 75 when the desk refuses. */
export const stop = async (strategy: string, options: SteerOptions, io: CommandIo): Promise<number> =>
  await command(options, io, '/api/v1/stop', { strategy, why: options.why });

/** Starts an occurrence of one strategy. Exit codes: 0, 69, 75 when the desk refuses. */
export const runNow = async (strategy: string, options: SteerOptions, io: CommandIo): Promise<number> =>
  await command(options, io, '/api/v1/strategies/run', { strategy, why: options.why });

export interface ReloadOptions extends SteerOptions {
  readonly dryRun?: boolean | undefined;
}

/** Reloads the strategies, or with `dryRun` only prints what would change. Exit codes: 0, 69, 75 when a file is not usable. */
export async function reload(options: ReloadOptions, io: CommandIo): Promise<number> {
  const why = options.why ?? 'tranche reload';
  return await command(options, io, '/api/v1/reload', {
    why,
    dry_run: options.dryRun ?? false,
  });
}

/** Lifts a halt. Exit codes: 0, 69, 75 when the desk refuses because of open doubts or a kill. */
export async function rearm(options: RearmOptions, io: CommandIo): Promise<number> {
  const { body } = await ask(options, io, { path: '/api/v1/status' });
  return await command(options, io, '/api/v1/rearm', {
    why: options.why,
    confirm: body['desk'],
    with_open_doubts: options.withOpenDoubts ?? false,
  });
}

/** Sends a command and prints its response. */
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
