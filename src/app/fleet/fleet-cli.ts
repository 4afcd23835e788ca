import type { Command } from '@commander-js/extra-typings';
import type { ControlCli } from '../cli/control-cli.ts';

const STORE = 'postgres://user@host/database';

export function addFleet(cli: Command, { io, config, done }: ControlCli): void {
  const fleet = cli
    .command('fleet')
    .description('manage desks that daemons take from PostgreSQL; see tranche run --fleet');
  fleet
    .command('put')
    .description('check the config and strategies of a desk and store them as its next version')
    .argument('<desk>', 'name of the desk')
    .addOption(config())
    .requiredOption('--store <url>', STORE)
    .option('--file <file>', 'a file that a strategy names, such as a module; repeatable', collect, [])
    .option('--why <reason>', 'reason, kept with the version')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (desk, options) => {
      const { fleetPut } = await import('./fleet-commands.ts');
      done(await fleetPut(desk, options, io));
    });
  fleet
    .command('list')
    .description('list daemons and desks')
    .requiredOption('--store <url>', STORE)
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      const { fleetList } = await import('./fleet-commands.ts');
      await fleetList(options, io);
      done(0);
    });
  fleet
    .command('status')
    .description('show the state of every desk in the store, as its owner last reported it')
    .requiredOption('--store <url>', STORE)
    .option('--exit-code', 'exit 75 if a desk cannot trade now')
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      const { fleetStatus } = await import('./fleet-commands.ts');
      done(await fleetStatus(options, io));
    });
  fleet
    .command('sign-in')
    .description("print a one-time link that signs in a browser on this machine to its daemon's pages")
    .option(
      '--folder <folder>',
      'folder of the daemon, as given to tranche run --fleet (default: ./var/fleet)',
    )
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      const { fleetSignIn } = await import('./fleet-sign-in.ts');
      done(await fleetSignIn(options, io));
    });
  fleet
    .command('token')
    .description("replace a desk's venue token, whichever daemon runs the desk")
    .argument('<desk>', 'name of the desk')
    .requiredOption('--token-file <file>', 'file with the new token, mode 0600')
    .requiredOption('--store <url>', STORE)
    .option('--why <reason>', 'reason, kept with the token')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .action(async (desk, options) => {
      const { fleetToken } = await import('./tokens/fleet-token.ts');
      await fleetToken(desk, options, io);
      done(0);
    });
  fleet
    .command('limits')
    .description('show the firm limits over all desks, or replace the firm limits of a mode')
    .requiredOption('--store <url>', STORE)
    .option('--mode <mode>', 'live, dry_run or paper; each mode has its own limits', 'live')
    .option(
      '--max-day-notional <amount>',
      "largest total value of all orders in a UTC day, such as '5000000 USD'",
    )
    .option(
      '--max-open-doubts <number>',
      'number of orders with an unknown outcome at which no further order is sent',
    )
    .option(
      '--max-position <limit>',
      'largest position, long or short, such as btc=25; repeatable',
      collect,
      [],
    )
    .option('--none', 'remove all firm limits of the mode')
    .option('--why <reason>', 'reason, kept with the limits')
    .option('--by <name>', 'name of the operator (default: user name on this machine)')
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      const { fleetLimits } = await import('./limits/limits-command.ts');
      await fleetLimits(options, io);
      done(0);
    });
  fleet
    .command('move')
    .description('move a desk to another daemon, once its orders in flight have ended')
    .argument('<desk>', 'name of the desk')
    .requiredOption('--to <daemon>', 'daemon that takes over the desk')
    .requiredOption('--store <url>', STORE)
    .option('--why <reason>', 'reason, kept with the command')
    .action(async (desk, options) => {
      const { fleetMove } = await import('./fleet-commands.ts');
      await fleetMove(desk, options, io);
      done(0);
    });
  fleet
    .command('drain')
    .description("hand a daemon's desks over to other daemons, and stop the daemon")
    .argument('<daemon>', 'name of the daemon')
    .requiredOption('--store <url>', STORE)
    .option('--why <reason>', 'reason, kept with the command')
    .action(async (daemon, options) => {
      const { fleetDrain } = await import('./fleet-commands.ts');
      await fleetDrain(daemon, options, io);
      done(0);
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
