import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../../../core/errors.ts';
import { isAmountText, money, price, quantity } from '../../../core/money.ts';
import { instant, parseTime } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Side, Size } from '../../../core/venue.ts';
import { ruleTypes } from '../../../wire/custody.ts';
import type { RuleType } from '../../../wire/custody.ts';
import type { AccountIo } from '../../commands/account/account-session.ts';

/** The parts of the process that the account commands need. */
export interface AccountCli {
  readonly io: AccountIo;
  /** Sets the exit code. */
  readonly done: (code: number) => void;
}

/** Adds a command that talks to the venue. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- the type is the list of options, which commander infers
export const connectedLeaf = (parent: Command, name: string, description: string) =>
  parent
    .command(name)
    .description(description)
    .option('--base-url <address>', 'URL of the venue')
    .option('--config <file>', 'config that contains venue.base_url')
    .option('--token-file <file>', 'file with the operator token, mode 0600');

/** Adds a command that talks to the venue and prints rows. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- as above
export const leaf = (parent: Command, name: string, description: string) =>
  connectedLeaf(parent, name, description)
    .addOption(new Option('--json', 'print one JSON object per line; amounts are text').conflicts('csv'))
    .option('--csv', 'print CSV with a header');

/** Like `leaf`, for commands that move money or change who may move it. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- as above
export const movingLeaf = (parent: Command, name: string, description: string) =>
  leaf(parent, name, description).option('--yes', 'skip the confirmation prompt, for scripts');

/** Returns the size from either `--quantity` or `--amount`. @throws OperatorError `usage` for none or both */
export function sizeOf(options: Partial<Sizes>): Size {
  const { quantity: base, amount } = options;
  if (base !== undefined && amount === undefined) return { by: 'quantity', quantity: base };
  if (base === undefined && amount !== undefined) return { by: 'amount', amount };
  throw new OperatorError('usage', 'give either --quantity (base currency) or --amount (quote currency)');
}
interface Sizes {
  readonly quantity: ReturnType<typeof quantity>;
  readonly amount: ReturnType<typeof money>;
}

/** Returns a parser of an argument, in the form that commander expects. */
const reading =
  <T>(expected: string, shape: RegExp, read: (text: string) => T) =>
  (text: string): T => {
    if (!shape.test(text)) throw new InvalidArgumentError(`expected ${expected}`);
    return read(text);
  };
const same = (text: string): string => text;

const amountLike =
  <T>(read: (text: string) => T) =>
  (text: string): T => {
    if (!isAmountText(text) || !/^\d+(?:\.\d+)?$/u.test(text) || !quantity(text).gt(0))
      throw new InvalidArgumentError('expected an amount above zero, such as 0.25');
    return read(text);
  };
export const quantityArgument = amountLike(quantity);
export const moneyArgument = amountLike(money);
export const priceArgument = amountLike(price);
export const countArgument = reading('a whole number', /^\d{1,15}$/u, Number);
export const symbolArgument = reading('a currency such as btc', /^[a-z0-9]{1,12}$/u, same);
export const pairArgument = reading('a pair in lower case such as btcusd', /^[a-z0-9]{2,32}$/u, same);
export const idArgument = reading('an id of letters, digits, - and _', /^[\w-]{1,64}$/u, same);
export const sideArgument = reading('buy or sell', /^(?:buy|sell)$/u, (text): Side =>
  text === 'buy' ? 'buy' : 'sell',
);
/** Accepts any 4 to 256 printable characters without spaces: the format of an address depends on its network. */
export const addressArgument = reading('an address without spaces', /^[\x21-\x7e]{4,256}$/u, same);
export function ruleTypeArgument(text: string): RuleType {
  const type = ruleTypes.find((each) => each === text);
  if (type === undefined) throw new InvalidArgumentError(`expected one of ${ruleTypes.join(', ')}`);
  return type;
}
export const typesArgument = reading(
  'charge, deposit, withdraw, credit, buy or sell, separated by commas',
  /^(?:charge|deposit|withdraw|credit|buy|sell)(?:,(?:charge|deposit|withdraw|credit|buy|sell))*$/u,
  same,
);

export const upTo =
  (most: number) =>
  (text: string): number => {
    const count = countArgument(text);
    if (count < 1 || count > most) throw new InvalidArgumentError(`expected 1 to ${most}`);
    return count;
  };

export function timeArgument(text: string): Instant {
  try {
    return instant(parseTime(text));
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'expected a time');
  }
}
