import { Argument, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { roles } from '../../core/roles.ts';
import { collect, daemonCommand } from './options.ts';
import type { CliWorld } from './options.ts';

/**
 * Adds `tranche status`, `pause`, `resume`, `stop`, `halt`, `rearm`, `doubts`, `sign-in`, `people` and others, which talk to the daemon
 * that runs on the journal of a config.
 */
export function addControl(cli: Command, { io, config, done }: CliWorld): void {
  const leaf = daemonCommand(config);
  leaf(cli, 'status', 'show the running desk: state, readiness, strategies, holdings, limits, doubts')
    .option('--exit-code', 'exit 75 if the desk cannot trade now')
    .action(async (options) => {
      const { status } = await import('../commands/desk/status.ts');
      done(await status(options, io));
    });
  leaf(cli, 'execute', 'place one order now, as a strategy of its own, through the same limits and journal')
    .addArgument(new Argument('<side>', 'buy or sell').choices(['buy', 'sell'] as const))
    .argument('<amount>', 'plain decimal, such as 0.5')
    .argument('<currency>', 'currency of the amount: base or quote of the pair')
    .option('--pair <pair>', "pair (default: the desk's only pair with this base currency)")
    .option('--limit <price>', 'worst acceptable price, quote per base (default: none)')
    .option('--within <duration>', 'time to trade, ISO 8601 (default: PT5M)')
    .option('--slices <n>', 'number of equal slices within that time (default: 1)')
    .option('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .option('--yes', 'place the order; without this, only show what would be placed')
    .action(async (side, amount, currency, options) => {
      const { execute } = await import('../commands/execute.ts');
      done(await execute({ ...options, side, amount, currency }, io));
    });
  for (const [name, does] of [
    ['pause', 'start no new slices; let open ones finish'],
    ['resume', 'lift a pause'],
  ] as const) {
    const turn = leaf(cli, name, does)
      .argument('[what]', 'only this strategy, pair or parent, as tranche status shows it')
      .option('--parent <id>', 'only this parent; id as shown by tranche status')
      .option('--pair <pair>', 'only this pair')
      .option('--strategy <id>', 'only this strategy')
      .option('--why <reason>', 'reason, recorded in the journal')
      .option('--by <name>', 'name of the operator (default: user name on this machine)')
      .action(async (what, options) => {
        const { steer } = await import('../commands/desk/steer.ts');
        done(await steer(name, { ...options, what }, io));
      });
    if (name !== 'pause') continue;
    turn
      .option('--reducing', 'still allow orders that reduce a borrowed balance')
      .option('--for <duration>', 'resume automatically after this ISO 8601 duration, such as PT30M');
  }
  leaf(cli, 'stop', 'stop one strategy permanently; its open slices end without another order')
    .argument('<strategy>', 'id, as shown by tranche status')
    .requiredOption('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (strategy, options) => {
      const { stop } = await import('../commands/desk/steer.ts');
      done(await stop(strategy, options, io));
    });
  leaf(
    cli,
    'run-now',
    'run one occurrence of a recurring or scheduled strategy now; its schedule stays as it is',
  )
    .argument('<strategy>', 'id, as shown by tranche status')
    .requiredOption('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (strategy, options) => {
      const { runNow } = await import('../commands/desk/steer.ts');
      done(await runNow(strategy, options, io));
    });
  leaf(cli, 'halt', 'kill switch: send no quote request and no order until rearm; works even without the API')
    .option('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .option('--kill', 'also disable order sending until the daemon restarts')
    .action(async (options) => {
      const { halt } = await import('../commands/desk/halt.ts');
      done(await halt(options, io));
    });
  leaf(cli, 'reload', 'reload strategy files; start, stop and replace strategies without a restart')
    .option('--dry-run', 'show the changes without applying them')
    .option('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (options) => {
      const { reload } = await import('../commands/desk/steer.ts');
      done(await reload(options, io));
    });
  leaf(cli, 'rearm', 'lift a halt')
    .requiredOption('--why <reason>', 'the cause of the halt and its fix; recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .option('--with-open-doubts', 'proceed even if doubts are open')
    .action(async (options) => {
      const { rearm } = await import('../commands/desk/steer.ts');
      done(await rearm(options, io));
    });
  const doubts = leaf(cli, 'doubts', 'list doubts: orders whose outcome is unknown').action(
    async (options) => {
      const command = await import('../commands/desk/doubts.ts');
      done(await command.doubts(options, io));
    },
  );
  leaf(doubts, 'resolve', 'resolve a doubt by hand when the account cannot prove the outcome')
    .argument('<id>', 'client order id, as shown by tranche doubts')
    .option('--not-executed', 'the order did not trade and cannot trade any more')
    .option('--filled', 'the order traded; without figures, wait until the account shows them')
    .option('--order-id <id>', 'with --filled: id of the order at the venue')
    .option('--quantity <decimal>', 'with --filled: executed quantity, in base currency')
    .option('--amount <decimal>', 'with --filled: executed amount, in quote currency, before fees')
    .option('--fees <decimal>', 'with --filled: fees, in quote currency')
    .requiredOption(
      '--evidence <text>',
      'what the venue confirmed, and who confirmed it; recorded in the journal',
    )
    .requiredOption('--by <name>', 'name of the person who resolves the doubt')
    .option('--yes', 'confirm without a prompt')
    .action(async (id, options) => {
      const { resolveDoubt } = await import('../commands/desk/doubts.ts');
      done(await resolveDoubt(id, { ...options, ...doubts.opts() }, io));
    });
  leaf(doubts, 'attribute', 'say whose rows hold a doubt open; the account then ends the doubt')
    .argument('<id>', 'client order id, as shown by tranche doubts')
    .option('--row <id>', 'id of a row, as shown by tranche doubts; repeat for each row', collect, [])
    .option('--ours', 'the rows belong to this order')
    .option('--not-ours', 'the rows belong to no order of this desk')
    .requiredOption(
      '--evidence <text>',
      'what the venue confirmed, and who confirmed it; recorded in the journal',
    )
    .requiredOption('--by <name>', 'name of the person who attributes the rows')
    .action(async (id, options) => {
      const { attributeRows } = await import('../commands/desk/doubts.ts');
      done(await attributeRows(id, { ...options, ...doubts.opts() }, io));
    });
  addPeople(cli, { io, config, done });
}

/** Adds the commands for the people who may use the dashboard. */
function addPeople(cli: Command, { io, config, done }: CliWorld): void {
  const leaf = daemonCommand(config);
  leaf(cli, 'sign-in', 'print a one-time link that signs in a browser on this machine')
    .addOption(new Option('--role <role>', 'role of the browser (default: admin)').choices(roles))
    .action(async (options) => {
      const { signInLink } = await import('../commands/desk/people.ts');
      done(await signInLink(options, io));
    });
  const people = leaf(cli, 'people', 'list the people who may sign in to the dashboard').action(
    async (options) => {
      const { listPeople } = await import('../commands/desk/people.ts');
      done(await listPeople(options, io));
    },
  );
  leaf(people, 'list', 'list the people who may sign in to the dashboard').action(async (options) => {
    const { listPeople } = await import('../commands/desk/people.ts');
    done(await listPeople({ ...options, ...people.opts() }, io));
  });
  leaf(people, 'invite', 'print a one-time link with which a person enrols a passkey')
    .argument('<name>', 'name of the person, recorded in the journal: letters, digits and . @ _ -')
    .addOption(new Option('--role <role>', 'role of the person').choices(roles).makeOptionMandatory(true))
    .requiredOption('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (name, options) => {
      const { invitePerson } = await import('../commands/desk/people.ts');
      done(await invitePerson(name, { ...options, ...people.opts() }, io));
    });
  leaf(people, 'remove', 'remove a person: end their sessions and refuse their sign-in')
    .argument('<name>', 'name, as shown by tranche people')
    .requiredOption('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (name, options) => {
      const { removePerson } = await import('../commands/desk/people.ts');
      done(await removePerson(name, { ...options, ...people.opts() }, io));
    });
}
