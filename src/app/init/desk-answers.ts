import { splitPair } from '../../core/pairs.ts';
import { isAmountText } from '../../core/money.ts';
import { parseDuration } from '../../core/time.ts';
import { parseListen } from '../../operate/listen.ts';
import { addressProblem } from '../../venue/origin.ts';
import { COMMON_CURRENCIES } from '../strategies/strategies.ts';

/** What a new desk should do: all answers to `init`, as text. */
export interface DeskAnswers {
  readonly does: 'buy' | 'sell' | 'dca' | 'rebalance';
  /** Pair to trade. A rebalancing instead has the pairs that follow from its weights. */
  readonly pair: string;
  /** Total size, or size of each trade: `1.5 btc`. */
  readonly size: string;
  /** Time over which the total is traded, ISO 8601. */
  readonly over: string;
  /** Weights in percent, `btc=20,eth=10`; the rest is cash in usd. */
  readonly weights: string;
  /** `daily`, `weekdays`, `weekly` or `monthly`, with a time of the day: `weekdays 15:00`. */
  readonly times: string;
  /** IANA time zone. */
  readonly zone: string;
  readonly mode: 'paper' | 'dry_run' | 'live';
  readonly url: string;
  readonly tokenFile: string;
  /** Limits: `50000 usd`, and the largest order of each pair in base currency, `btcusd=1,ethusd=20`. */
  readonly maxOrder: string;
  readonly maxDay: string;
  readonly maxQuantity: string;
  readonly sellPath: string;
  readonly notify: 'none' | 'slack' | 'teams' | 'json';
  /** URL to which messages are posted. It is kept in a separate file. */
  readonly notifyUrl: string;
  /** Address of the dashboard, the API and the metrics, or `off`. */
  readonly listen: string;
}
export type Answer = keyof DeskAnswers;

/** One question, for a terminal and as an option of the command line. */
export interface Question {
  readonly flag: string;
  readonly asks: string;
  readonly hint: string;
  /** Default answer. Omitted: an answer is required. */
  readonly otherwise?: string;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  readonly isSecret?: true;
  /** Returns whether to ask, depending on earlier answers. */
  readonly when?: (known: Partial<DeskAnswers>) => boolean;
  readonly fault?: (text: string, known: Partial<DeskAnswers>) => string | undefined;
}

const isVenue = ({ mode }: Partial<DeskAnswers>): boolean => mode !== undefined && mode !== 'paper';
const isLive = ({ mode }: Partial<DeskAnswers>): boolean => mode === 'live';
const isTotal = ({ does }: Partial<DeskAnswers>): boolean => does === 'buy' || does === 'sell';
const isRebalance = ({ does }: Partial<DeskAnswers>): boolean => does === 'rebalance';

/** Questions, in order. */
export const questions: Readonly<Record<Answer, Question>> = {
  does: {
    flag: '--does',
    asks: 'What should the desk do?',
    hint: 'buy, sell, dca or rebalance',
    choices: [
      { value: 'buy', label: 'buy a total over some hours' },
      { value: 'sell', label: 'sell a total over some hours' },
      { value: 'dca', label: 'buy the same amount at regular times' },
      { value: 'rebalance', label: 'keep a portfolio at its target weights' },
    ],
  },
  pair: {
    flag: '--pair',
    asks: 'Which pair?',
    hint: 'such as btcusd',
    otherwise: 'btcusd',
    when: (known) => !isRebalance(known),
    fault: pairFault,
  },
  weights: {
    flag: '--weights',
    asks: 'Which weights, in percent? The rest stays in usd.',
    hint: 'such as btc=20,eth=10',
    when: isRebalance,
    fault: weightsFault,
  },
  size: {
    flag: '--size',
    asks: 'How much, in total or each time?',
    hint: 'an amount in a currency of the pair, such as "1.5 btc" or "20000 usd"',
    when: (known) => !isRebalance(known),
    fault: (text, { pair = '' }) => sizeFault(text, sidesOf(pair)),
  },
  over: {
    flag: '--over',
    asks: 'Over how long?',
    hint: 'an ISO 8601 duration, such as PT4H',
    otherwise: 'PT4H',
    when: isTotal,
    fault: durationFault,
  },
  times: {
    flag: '--times',
    asks: 'When?',
    hint: 'daily, weekdays, weekly or monthly, and a time: "weekdays 15:00"',
    otherwise: 'weekdays 15:00',
    when: (known) => !isTotal(known),
    fault: (text) => (cronOf(text) === undefined ? 'expected, for example, weekdays 15:00' : undefined),
  },
  zone: {
    flag: '--zone',
    asks: 'In which time zone?',
    hint: 'an IANA name, such as Europe/London',
    otherwise: 'UTC',
    when: (known) => !isTotal(known),
    fault: zoneFault,
  },
  mode: {
    flag: '--mode',
    asks: 'Where should it trade?',
    hint: 'paper, dry_run or live',
    otherwise: 'paper',
    choices: [
      { value: 'paper', label: 'paper: at a simulated venue on this machine' },
      { value: 'dry_run', label: 'dry run: real quotes, no order leaves' },
      { value: 'live', label: 'live: real orders' },
    ],
  },
  url: {
    flag: '--url',
    asks: 'What is the URL of the venue?',
    hint: 'such as https://venue.example',
    when: isVenue,
    fault: (text) => addressProblem(text, 'http'),
  },
  tokenFile: {
    flag: '--token-file',
    asks: 'Which file contains the token, or will contain it?',
    hint: 'a path, relative to the folder of the config; mode 0600',
    otherwise: './venue-token',
    when: isVenue,
  },
  sellPath: {
    flag: '--sell-path',
    asks: 'Which route of the venue accepts sell orders?',
    hint: 'such as /v1/orders/sell',
    otherwise: '/v1/orders/sell',
    when: (known) => isVenue(known) && (known.does === 'sell' || isRebalance(known)),
    fault: (text) =>
      /^\/v1\/orders\/[a-z0-9_-]{1,64}$/u.test(text) ? undefined : 'expected a path such as /v1/orders/sell',
  },
  maxOrder: {
    flag: '--max-order',
    asks: 'What is the largest value of one order?',
    hint: 'such as "50000 usd"',
    when: isVenue,
    fault: (text, known) => sizeFault(text, [quoteOf(known)]),
  },
  maxDay: {
    flag: '--max-day',
    asks: 'What is the largest total value of all orders in one day?',
    hint: 'such as "500000 usd"',
    when: isVenue,
    fault: (text, known) => sizeFault(text, [quoteOf(known)]),
  },
  maxQuantity: {
    flag: '--max-quantity',
    asks: 'What is the largest order of each pair, in its base currency?',
    hint: 'such as btcusd=1,ethusd=20',
    when: isLive,
    fault: quantitiesFault,
  },
  notify: {
    flag: '--notify',
    asks: 'Who should receive alerts?',
    hint: 'none, slack, teams or json',
    otherwise: 'none',
    choices: [
      { value: 'none', label: 'nobody: alerts stay in the journal and the log' },
      { value: 'slack', label: 'a channel in Slack' },
      { value: 'teams', label: 'a channel in Teams' },
      { value: 'json', label: 'our own program, through a signed webhook' },
    ],
  },
  notifyUrl: {
    flag: '--notify-url',
    asks: 'What is the URL of the webhook? It is stored in a file that only its owner can read.',
    hint: 'https://…',
    isSecret: true,
    when: ({ notify }) => notify !== undefined && notify !== 'none',
    fault: (text) => addressProblem(text.split('?')[0] ?? '', 'http'),
  },
  listen: {
    flag: '--listen',
    asks: 'On which address should the dashboard and the API listen?',
    hint: 'an address of this machine, or off',
    otherwise: '127.0.0.1:8321',
    fault: listenFault,
  },
};

/** Returns the two currencies of a pair, or none if the pair is not known. */
export function sidesOf(pair: string): readonly string[] {
  const split = splitPair(pair, COMMON_CURRENCIES);
  return 'problem' in split ? [] : [split.base, split.quote];
}

/** Returns the currency of the limits. */
export const quoteOf = ({ does, pair = 'btcusd' }: Partial<DeskAnswers>): string =>
  does === 'rebalance' ? 'usd' : (sidesOf(pair)[1] ?? 'usd');

export const pairsOf = ({ does, pair = '', weights = '' }: Partial<DeskAnswers>): readonly string[] =>
  does === 'rebalance' ? [...namedFigures(weights).keys()].map((currency) => `${currency}usd`) : [pair];

/** Parses `btc=20,eth=10`. Returns the figures by name; empty if the text is malformed. */
export function namedFigures(text: string): ReadonlyMap<string, string> {
  const named = text
    .split(',')
    .map((each) => /^\s*(?<name>[a-z0-9]{2,24})\s*=\s*(?<figure>\S+)\s*$/u.exec(each)?.groups);
  if (named.some((each) => each === undefined || !isPositive(each['figure'] ?? ''))) return new Map();
  return new Map(named.map((each) => [each?.['name'] ?? '', each?.['figure'] ?? '']));
}

/** Splits an amount from its currency. */
export function amountOf(text: string): { readonly amount: string; readonly currency: string } {
  const [amount = '', currency = ''] = text.trim().split(/\s+/u);
  return { amount, currency };
}

/** Fields of cron for days of the month, months and days of the week. */
const DAYS: Readonly<Record<string, string>> = { weekdays: '* * 1-5', weekly: '* * 1', monthly: '1 * *' };

/** Returns the five fields of cron for a text such as `weekdays 15:00`, or `undefined` if it is malformed. */
export function cronOf(text: string): string | undefined {
  const groups = /^(?<days>daily|weekdays|weekly|monthly) (?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)$/u.exec(
    text.trim(),
  )?.groups;
  if (groups === undefined) return undefined;
  const days = DAYS[groups['days'] ?? ''] ?? '* * *';
  return `${Number(groups['minute'])} ${Number(groups['hour'])} ${days}`;
}

const isPositive = (text: string): boolean => isAmountText(text) && !/e|^-|^0*(?:\.0*)?$/iu.test(text);

function pairFault(text: string): string | undefined {
  const split = splitPair(text, COMMON_CURRENCIES);
  return 'problem' in split
    ? `expected two known currencies in lower case, such as btcusd: ${split.why}`
    : undefined;
}

function sizeFault(text: string, currencies: readonly string[]): string | undefined {
  const { amount, currency } = amountOf(text);
  if (!isPositive(amount)) return 'expected a plain decimal and a currency, such as "1.5 btc"';
  return currencies.includes(currency) ? undefined : `expected an amount in ${currencies.join(' or ')}`;
}

function weightsFault(text: string): string | undefined {
  const weights = namedFigures(text);
  if (weights.size === 0) return 'expected currencies and percent, such as btc=20,eth=10';
  const unknown = [...weights.keys()].find((each) => each === 'usd' || !COMMON_CURRENCIES.includes(each));
  if (unknown !== undefined)
    return `${unknown} cannot have a weight: it is not a currency traded against usd`;
  const sum = [...weights.values()].reduce((total, each) => total + Number(each), 0);
  return sum < 100 ? undefined : 'the weights must leave a share for usd: less than 100 in total';
}

function quantitiesFault(text: string, known: Partial<DeskAnswers>): string | undefined {
  const found = namedFigures(text);
  const missing = pairsOf(known).find((pair) => !found.has(pair));
  return missing === undefined ? undefined : `expected a quantity for each pair, such as ${missing}=1`;
}

function durationFault(text: string): string | undefined {
  try {
    return parseDuration(text) >= 60_000 ? undefined : 'expected at least PT1M';
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'expected an ISO 8601 duration such as PT4H';
  }
}

function zoneFault(text: string): string | undefined {
  try {
    Temporal.Now.zonedDateTimeISO(text);
    return undefined;
  } catch {
    return 'expected an IANA time zone such as Europe/London';
  }
}

function listenFault(text: string): string | undefined {
  if (text === 'off') return undefined;
  try {
    return parseListen(text).host === '' ? 'expected an address such as 127.0.0.1:8321' : undefined;
  } catch {
    return 'expected an address such as 127.0.0.1:8321, or off';
  }
}
