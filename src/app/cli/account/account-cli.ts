import { createInterface } from 'node:readline';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { AccountIo } from '../../commands/account/account-session.ts';
import type { CommandIo } from '../../commands/io.ts';
import { addCustody } from './account-cli-custody.ts';
import {
  connectedLeaf,
  countArgument,
  idArgument,
  leaf,
  moneyArgument,
  movingLeaf,
  pairArgument,
  priceArgument,
  quantityArgument,
  sideArgument,
  sizeOf,
  symbolArgument,
  timeArgument,
  typesArgument,
  upTo,
} from './account-options.ts';
import type { AccountCli } from './account-options.ts';
import { systemClock, systemRandom } from '../../daemon/clock.ts';

/** Adds `tranche account …`: manual account operations with a separate token. Each command loads its module on demand. */
export function addAccount(cli: Command, world: AccountCli): void {
  const account = cli
    .command('account')
    .description('inspect the account and act on it by hand; needs a separate operator token')
    .addHelpText('after', HELP);
  addReading(account, world);
  addPts(account, world);
  addTrading(account, world);
  addOrders(account, world);
  addCustody(account, world);
  addSync(account, world);
}

const HELP = `
Token: TRANCHE_OPERATOR_TOKEN or --token-file; the desk's token is never used. URL of the venue: --base-url, or --config (TRANCHE_CONFIG).
Commands that move money ask for confirmation; --yes skips the prompt, for scripts.
Exit codes: 0 done, 64 usage, 65 balances with gaps, 69 the venue refused or did not respond, 75 try again, 78 no token or URL.`;

/** Adds the clock, randomness and prompts to `io`. Prompts go to stderr, so that stdout carries only data. */
export function accountIo(
  io: CommandIo,
  terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
): AccountIo {
  const { input, output } = terminal;
  return {
    ...io,
    clock: systemClock,
    random: systemRandom,
    ask:
      input.isTTY && output.isTTY
        ? async (question) =>
            await new Promise((resolve) => {
              const lines = createInterface({ input, output });
              lines.once('SIGINT', () => lines.close());
              // Ctrl-C and Ctrl-D mean no.
              lines.once('close', () => resolve(''));
              lines.question(question, (said) => {
                resolve(said);
                lines.close();
              });
            })
        : undefined,
  };
}

function addReading(account: Command, { io, done }: AccountCli): void {
  const simple = [
    ['balances', 'list the account balances'],
    ['currencies', 'list the currencies and their settings'],
    ['pairs', "list the venue's pairs"],
    ['fees', "show the account's trading fees"],
  ] as const;
  for (const [name, description] of simple) {
    leaf(account, name, description).action(async (options) => {
      const commands = await import('../../commands/account/account-read.ts');
      done(await commands[name](options, io));
    });
  }
  leaf(account, 'transactions', 'list one page of transactions, newest first (1 request per 10 s)')
    .option('--from <time>', 'start (default: 24 hours ago)', timeArgument)
    .option('--to <time>', 'end (default: now)', timeArgument)
    .option('--limit <n>', 'number of rows, at most 1000 (default: 250)', upTo(1000))
    .option(
      '--offset <n>',
      'number of the first row, for older pages: the number of rows received so far, plus one',
      countArgument,
    )
    .option('--after <id>', 'only transactions newer than this one', countArgument)
    .option(
      '--types <list>',
      'comma-separated list of charge, deposit, withdraw, credit, buy, sell',
      typesArgument,
    )
    .option('--pending', 'include pending deposits and withdrawals')
    .action(async (options) => {
      const { transactions } = await import('../../commands/account/account-read.ts');
      done(await transactions(options, io));
    });
  leaf(account, 'trades', "list one page of the account's trades, newest first")
    .option('--limit <n>', 'number of rows, at most 100', upTo(100))
    .option('--after <cursor>', 'cursor of the last row received')
    .action(async (options) => {
      const { trades } = await import('../../commands/account/account-read.ts');
      done(await trades(options, io));
    });
  leaf(account, 'history', 'show the value of the portfolio over time')
    .option('--from <time>', 'start (default: 30 days ago; 1 day with --hourly)', timeArgument)
    .option('--to <time>', 'end (default: now)', timeArgument)
    .option('--hourly', 'show hourly instead of daily values')
    .action(async (options) => {
      const { history } = await import('../../commands/account/account-read.ts');
      done(await history(options, io));
    });
  leaf(account, 'deposit-address', 'list the deposit addresses of a currency')
    .argument('<currency>', 'such as btc', symbolArgument)
    .option('--new', 'create another address')
    .action(async (currency, options) => {
      const { depositAddress } = await import('../../commands/account/account-read.ts');
      done(await depositAddress(currency, options, io));
    });
}

function addPts(account: Command, { io, done }: AccountCli): void {
  const pts = account.command('pts').description("show post-trade settlement: the account's credit");
  const simple = [
    ['rates', 'ptsRates', 'list the borrowing rates'],
    ['modes', 'ptsModes', 'show the risk mode of each pair'],
    ['metrics', 'ptsMetrics', 'show equity and exposure'],
  ] as const;
  for (const [name, key, description] of simple) {
    leaf(pts, name, description).action(async (options) => {
      const commands = await import('../../commands/account/account-read.ts');
      done(await commands[key](options, io));
    });
  }
  leaf(pts, 'positions', 'list the positions on credit')
    .option('--closed', 'list closed positions instead of open ones')
    .option('--pair <pair>', 'only this pair', pairArgument)
    .action(async (options) => {
      const { ptsPositions } = await import('../../commands/account/account-read.ts');
      done(await ptsPositions(options, io));
    });
  leaf(pts, 'interest', 'list the interest charged')
    .option('--limit <n>', 'number of rows, at most 100', upTo(100))
    .action(async (options) => {
      const { ptsInterest } = await import('../../commands/account/account-read.ts');
      done(await ptsInterest(options, io));
    });
}

function addTrading(account: Command, { io, done }: AccountCli): void {
  leaf(account, 'quote', 'request a quote; executes nothing')
    .argument('<pair>', 'such as btcusd', pairArgument)
    .argument('<side>', 'buy or sell', sideArgument)
    .option('--quantity <q>', 'quantity in base currency', quantityArgument)
    .option('--amount <a>', 'amount in quote currency', moneyArgument)
    .action(async (pair, side, options) => {
      const { quote } = await import('../../commands/account/account-trade.ts');
      done(await quote({ pair, side }, { ...options, size: sizeOf(options) }, io));
    });
  for (const side of ['buy', 'sell'] as const) {
    movingLeaf(account, side, `${side} at a quote, once, all or nothing`)
      .argument('<pair>', 'such as btcusd', pairArgument)
      .option('--quantity <q>', 'quantity in base currency', quantityArgument)
      .option('--amount <a>', 'amount in quote currency', moneyArgument)
      .option('--limit <price>', 'worst acceptable price, quote currency per base currency', priceArgument)
      .option('--client-id <id>', 'client order id; must be new', idArgument)
      .action(async (pair, options) => {
        const { trade } = await import('../../commands/account/account-trade.ts');
        done(await trade({ pair, side }, { ...options, size: sizeOf(options) }, io));
      });
  }
}

function addOrders(account: Command, { io, done }: AccountCli): void {
  const orders = account.command('orders').description("list the account's orders");
  for (const which of ['open', 'done'] as const) {
    leaf(orders, which, which === 'open' ? 'list open orders' : 'list orders that are done or canceled')
      .option('--pair <pair>', 'only this pair', pairArgument)
      .option('--side <side>', 'buy or sell', sideArgument)
      .option('--limit <n>', 'number of rows, at most 50', upTo(50))
      .option('--before <id>', 'only orders older than this one', idArgument)
      .action(async (options) => {
        const commands = await import('../../commands/account/account-orders.ts');
        done(await commands.orders(which, options, io));
      });
  }
  leaf(orders, 'show', 'show one order')
    .argument('<id>', "the venue's order id, or client order id", idArgument)
    .action(async (id, options) => {
      const { orderShow } = await import('../../commands/account/account-orders.ts');
      done(await orderShow(id, options, io));
    });
  leaf(account, 'cancel', 'cancel one, several or all orders')
    .argument('[ids...]', 'order ids')
    .option('--all', 'cancel all open orders')
    .action(async (ids, options) => {
      const { cancel } = await import('../../commands/account/account-orders.ts');
      done(await cancel(ids, options, io));
    });
}

const STORE = 'var/account-history.db';

function addSync(account: Command, { io, done }: AccountCli): void {
  connectedLeaf(account, 'sync', 'download all transactions; resumes where it stopped')
    .option('--json', 'print the result as one JSON object')
    .option('--store <file>', 'file that stores the history', STORE)
    .option('--from <time>', 'start of the history (default: the first transaction)', timeArgument)
    .option('--account-changed', 'continue although the token or URL of the same account has changed')
    .action(async (options) => {
      const { sync } = await import('../../commands/account/account-sync.ts');
      done(await sync(options, io));
    });
  account
    .command('export')
    .description('export downloaded transactions, oldest first; does not contact the venue')
    .option('--store <file>', 'file that sync wrote', STORE)
    .addOption(
      new Option('--format <format>', 'csv, jsonl or parquet')
        .choices(['csv', 'jsonl', 'parquet'])
        .default('csv' as const),
    )
    .option('--out <file>', 'output file, for parquet')
    .action(async (options) => {
      const { exportHistory } = await import('../../commands/account/account-sync.ts');
      done(await exportHistory(options, io));
    });
}
