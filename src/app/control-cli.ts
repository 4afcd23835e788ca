import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { CommandIo } from './commands/io.ts';

/** What the commands for a running daemon need of the program. */
export interface ControlCli {
  readonly io: CommandIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
}

/** `tranche status`, `pause`, `resume`, `halt`, `rearm`, `doubts`: they talk to the daemon that runs on the journal of a config. */
export function addControl(cli: Command, { io, config, done }: ControlCli): void {
  const leaf = leaves(config);
  leaf(cli, 'status', 'how the daemon is: state, strategies, limits, doubts').action(async (options) => {
    const { status } = await import('./commands/status.ts');
    done(await status(options, io));
  });
  for (const [name, does] of [
    ['pause', 'begin nothing new; what was begun ends'],
    ['resume', 'lift a pause'],
  ] as const) {
    const turn = leaf(cli, name, does)
      .option('--parent <id>', 'only this parent, as tranche status names it')
      .option('--pair <pair>', 'only this pair')
      .option('--strategy <id>', 'only this strategy')
      .option('--why <reason>', 'goes into the journal')
      .option('--by <name>', 'who does it, instead of the user of this machine')
      .action(async (options) => {
        const { steer } = await import('./commands/steer.ts');
        done(await steer(name, options, io));
      });
    if (name !== 'pause') continue;
    turn
      .option('--reducing', 'let orders through that reduce a borrowed balance')
      .option('--for <duration>', 'resume by itself after this long, ISO 8601, such as PT30M');
  }
  leaf(cli, 'halt', 'stop at once: no quote, no order, until rearm; works without the API too')
    .option('--why <reason>', 'goes into the journal')
    .option('--by <name>', 'who does it, instead of the user of this machine')
    .option('--kill', 'also close the way of orders until the daemon is started again')
    .action(async (options) => {
      const { halt } = await import('./commands/halt.ts');
      done(await halt(options, io));
    });
  leaf(cli, 'reload', 'read the strategies again: begin, stop and replace what may change while it runs')
    .option('--dry-run', 'only say what would change')
    .option('--why <reason>', 'goes into the journal')
    .option('--by <name>', 'who does it, instead of the user of this machine')
    .action(async (options) => {
      const { reload } = await import('./commands/steer.ts');
      done(await reload(options, io));
    });
  leaf(cli, 'rearm', 'lift a halt, for a reason')
    .requiredOption('--why <reason>', 'what was wrong, and why it is not any more; goes into the journal')
    .option('--by <name>', 'who does it, instead of the user of this machine')
    .option('--with-open-doubts', 'although the outcome of orders is unknown')
    .action(async (options) => {
      const { rearm } = await import('./commands/steer.ts');
      done(await rearm(options, io));
    });
  addOverrides(cli, { io, config, done });
  const doubts = leaf(cli, 'doubts', 'orders whose outcome is unknown').action(async (options) => {
    const command = await import('./commands/doubts.ts');
    done(await command.doubts(options, io));
  });
  leaf(doubts, 'resolve', 'end a doubt that the account cannot end, by the word of a person')
    .argument('<id>', 'client order id, as tranche doubts prints it')
    .option('--not-executed', 'it did not trade, and never will')
    .option('--filled', 'it traded; without the figures it waits for the account to show them')
    .option('--order-id <id>', 'with --filled: id of the order at the venue')
    .option('--quantity <decimal>', 'with --filled: base currency')
    .option('--amount <decimal>', 'with --filled: quote currency, before fees')
    .option('--fees <decimal>', 'with --filled: quote currency')
    .requiredOption('--evidence <text>', 'what the venue said, and who of it; goes into the journal')
    .requiredOption('--by <name>', 'who says so')
    .option('--yes', 'yes, write it')
    .action(async (id, options) => {
      const { resolveDoubt } = await import('./commands/doubts.ts');
      done(await resolveDoubt(id, { ...options, ...doubts.opts() }, io));
    });
}

/** Commands that find the daemon by the same options. */
const leaves = (config: ControlCli['config']) => (parent: Command, name: string, does: string) =>
  parent
    .command(name)
    .description(does)
    .addOption(config())
    .option('--journal <journal>', 'the journal itself, instead of a config')
    .addOption(
      new Option('--mode <mode>', 'the mode it runs in').choices(['paper', 'dry_run', 'live'] as const),
    )
    .option('--url <url>', 'an API elsewhere, with the token in TRANCHE_OPERATOR_TOKEN')
    .option('--json', 'print one JSON object on stdout');

function addOverrides(cli: Command, { io, config, done }: ControlCli): void {
  const leaf = leaves(config);
  const parent = leaf(cli, 'override', 'overrides of a limit for one order').action(async (options) => {
    const { overrides } = await import('./commands/override.ts');
    done(await overrides(options, io));
  });
  leaf(parent, 'propose', 'ask for one limit to be looser for one order; another person approves it')
    .argument('<limit>', 'a setting of controls, such as max_order_notional')
    .option('--to <value>', 'its value for that order; restricted_hours takes none')
    .option('--parent <id>', 'one order of this parent')
    .option('--slice <number>', 'with --parent: of this slice')
    .option('--pair <pair>', 'one order of this pair')
    .addOption(new Option('--side <side>', 'with --pair').choices(['buy', 'sell'] as const))
    .option('--minutes <number>', 'how long it waits for its order, at most 15')
    .requiredOption('--why <reason>', 'goes into the journal')
    .option('--by <name>', 'who proposes, instead of the user of this machine')
    .action(async (limit, options) => {
      const { proposeOverride } = await import('./commands/override.ts');
      done(await proposeOverride(limit, { ...options, ...parent.opts() }, io));
    });
  leaf(parent, 'approve', 'agree, as a second person with a token of their own')
    .argument('<id>', 'as tranche override prints it')
    .requiredOption('--why <reason>', 'goes into the journal')
    .option('--by <name>', 'who approves, instead of the user of this machine')
    .action(async (id, options) => {
      const { approveOverride } = await import('./commands/override.ts');
      done(await approveOverride(id, { ...options, ...parent.opts() }, io));
    });
}
