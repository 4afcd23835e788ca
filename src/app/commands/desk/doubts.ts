import { OperatorError } from '../../../core/errors.ts';
import { ask, tell } from './daemon-client.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo, Given } from '../io.ts';
import { listOf, plain, unattributedWords } from './status.ts';
import { command } from './steer.ts';

/** Lists the orders whose outcome is unknown. Exit codes: 0, 69 when no daemon can be reached. */
export async function doubts(options: DaemonOptions, io: CommandIo): Promise<number> {
  const { body } = await ask(options, io, { path: '/api/v1/doubts' });
  const list = listOf(body['doubts']);
  tell(io, options.json, body, list.length === 0 ? ['no open doubts'] : list.flatMap(wordsOf));
  return 0;
}

const wordsOf = (one: Readonly<Record<string, unknown>>): readonly string[] => [
  `${plain(one['client_order_id'])}  ${plain(one['side'])} ${plain(one['size'])} of ${plain(one['pair'])}, at most ${plain(one['notional'])}`,
  `  ${plain(one['strategy'])} slice ${plain(one['slice'])}; open for ${plain(one['age_s'])} s; ${plain(one['why'])}`,
  one['earliest_answer_at'] === undefined
    ? '  traded; waiting for its figures'
    : `  earliest proof ${plain(one['earliest_answer_at'])}; clean reads of the account still needed: ${plain(one['clean_reads_left'])}`,
  ...unattributedWords(one['client_order_id'], one['unattributed']).map((line) => `  ${line}`),
];

export type ResolveOptions = DaemonOptions &
  Given<'orderId' | 'quantity' | 'amount' | 'fees', 'notExecuted' | 'filled' | 'yes'> & {
    readonly evidence: string;
    readonly by: string;
  };

/**
 * Ends a doubt with a person's resolution. Exit codes: 0, 64 for invalid arguments or without `--yes`, 75 when the desk
 * refuses because the resolution comes too early, names an unknown order, or contradicts the account.
 */
export async function resolveDoubt(id: string, options: ResolveOptions, io: CommandIo): Promise<number> {
  if ((options.notExecuted === true) === (options.filled === true))
    throw new OperatorError('usage', 'give either --not-executed or --filled');
  const { orderId, quantity, amount, fees } = options;
  const verdict = options.filled === true ? 'filled' : 'not_executed';
  if (options.yes !== true)
    throw new OperatorError(
      'usage',
      `the journal will record permanently that ${id} was ${verdict === 'filled' ? 'filled' : 'not executed'}. A wrong verdict makes the desk trade twice or lose a fill. Add --yes to confirm`,
    );
  return await command(options, io, '/api/v1/doubts/resolve', {
    client_order_id: id,
    verdict,
    evidence: options.evidence,
    order_id: orderId,
    quantity,
    amount,
    fees,
  });
}

export type AttributeOptions = DaemonOptions &
  Given<never, 'ours' | 'notOurs'> & {
    readonly row: readonly string[];
    readonly evidence: string;
    readonly by: string;
  };

/**
 * Records whose rows hold a doubt open. Exit codes: 0, 64 for invalid arguments, 75 when the desk refuses because the
 * order is not in doubt, a row does not hold it open, or another person must agree first.
 */
export async function attributeRows(id: string, options: AttributeOptions, io: CommandIo): Promise<number> {
  if ((options.ours === true) === (options.notOurs === true))
    throw new OperatorError('usage', 'give either --ours or --not-ours');
  if (options.row.length === 0)
    throw new OperatorError('usage', 'name each row with --row ID: tranche doubts shows the ids');
  return await command(options, io, '/api/v1/doubts/resolve', {
    client_order_id: id,
    verdict: options.ours === true ? 'ours' : 'not_ours',
    rows: options.row,
    evidence: options.evidence,
  });
}
