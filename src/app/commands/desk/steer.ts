import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { BY, WHY, daemonCommand } from '../../cli/options.ts';
import type { AddCommands, DaemonOptions } from '../../cli/options.ts';
import { ask, tell } from './daemon-client.ts';
import { whoami } from '../io.ts';
import type { CommandIo, Given } from '../io.ts';
import { openWords, plain } from './status.ts';

/** Adds `tranche pause` and `resume`. Exit codes of these and the commands below: 0, 69, 75 when the desk refuses. */
export const addPauses: AddCommands = (cli, { io, config, done }) => {
  for (const [name, does] of [
    ['pause', 'start no new slices; let open ones finish'],
    ['resume', 'lift a pause'],
  ] as const) {
    const turn = daemonCommand(config)(cli, name, does)
      .argument('[what]', 'only this strategy, pair or parent, as tranche status shows it')
      .option('--parent <id>', 'only this parent; id as shown by tranche status')
      .option('--pair <pair>', 'only this pair')
      .option('--strategy <id>', 'only this strategy')
      .option(...WHY)
      .option(...BY)
      .action(async (what, options: TurnOptions) => {
        const { parent, pair, strategy } = options;
        const named = what === undefined ? { parent, pair, strategy } : await scopeNamed(what, options, io);
        const body = {
          why: options.why ?? `tranche ${name}`,
          ...Object.fromEntries(Object.entries(named).filter(([, id]) => id !== undefined)),
          ...(options.reducing === true ? { reducing: true } : {}),
          ...(options.for === undefined ? {} : { for: options.for }),
        };
        done(await command(options, io, `/api/v1/${name}`, body));
      });
    if (name !== 'pause') continue;
    turn
      .option('--reducing', 'still allow orders that reduce a borrowed balance')
      .option('--for <duration>', 'resume automatically after this ISO 8601 duration, such as PT30M');
  }
};

type TurnOptions = SignedOptions & Given<'parent' | 'pair' | 'strategy' | 'for', 'reducing'>;

/** Adds `tranche stop`, `run-now`, `reload` and `rearm`. */
export const addSteer: AddCommands = (cli, { io, config, done }) => {
  const leaf = daemonCommand(config);
  leaf(cli, 'stop', 'stop one strategy permanently; its open slices end without another order')
    .argument('<strategy>', 'id, as shown by tranche status')
    .requiredOption(...WHY)
    .option(...BY)
    .action(async (strategy, options) => {
      done(await command(options, io, '/api/v1/stop', { strategy, why: options.why }));
    });
  leaf(cli, 'run-now', 'run one occurrence of a recurring or scheduled strategy now; its schedule stays as it is') // prettier-ignore
    .argument('<strategy>', 'id, as shown by tranche status')
    .requiredOption(...WHY)
    .option(...BY)
    .action(async (strategy, options) => {
      done(await command(options, io, '/api/v1/strategies/run', { strategy, why: options.why }));
    });
  leaf(cli, 'reload', 'reload strategy files; start, stop and replace strategies without a restart')
    .option('--dry-run', 'show the changes without applying them')
    .option(...WHY)
    .option(...BY)
    .action(async ({ why = 'tranche reload', dryRun = false, ...options }) => {
      done(await command(options, io, '/api/v1/reload', { why, dry_run: dryRun }));
    });
  leaf(cli, 'rearm', 'lift a halt')
    .requiredOption('--why <reason>', 'the cause of the halt and its fix; recorded in the journal')
    .option(...BY)
    .option('--with-open-doubts', 'proceed even if doubts are open')
    .action(async ({ why, withOpenDoubts = false, ...options }) => {
      const { body } = await ask(options, io, { path: '/api/v1/status' });
      const told = { why, confirm: body['desk'], with_open_doubts: withOpenDoubts };
      done(await command(options, io, '/api/v1/rearm', told));
    });
};

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

/** Options of a command that the journal records. */
export type SignedOptions = DaemonOptions & Given<'why' | 'by'>;

/** Sends a command and prints its response. */
export async function command(
  options: SignedOptions,
  io: CommandIo,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<number> {
  const by = options.by ?? (options.url === undefined ? whoami(io) : undefined);
  const answer = await ask(options, io, { path, body: by === undefined ? body : { ...body, by } });
  tell(io, options.json, answer.body, [...plain(answer.body['says']).split('\n'), ...openWords(answer.body)]);
  return answer.status === 200 ? 0 : exitCodes.again;
}
