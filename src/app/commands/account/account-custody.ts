import { OperatorError } from '../../../core/errors.ts';
import { decimalsOf, text } from '../../../core/money.ts';
import type { Money, Quantity } from '../../../core/money.ts';
import type { RuleType } from '../../../wire/custody.ts';
import type { FeeChannel } from '../../../wire/withdrawal.ts';
import { addressColumns, requestColumns, ruleColumns, withdrawalColumns } from './account-columns.ts';
import { column, figure, printOne, printRows } from './account-print.ts';
import type { Column } from './account-print.ts';
import { answerOf, confirmed, withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions, MovingOptions, Session } from './account-session.ts';
import { amountInWords } from './account-text.ts';

/** Withdrawals, and the rules and people that approve them. */

export interface WithdrawOptions extends MovingOptions {
  /** Destination address, unless the money goes to the bank. */
  readonly address?: string | undefined;
  /** Sends usd by wire instead of ACH. */
  readonly wire?: boolean | undefined;
  readonly memo?: string | undefined;
}

interface Withdrawal {
  readonly currency: string;
  readonly amount: Quantity;
}

/** Starts one withdrawal, after checking it against the settings of the currency and showing its fee. */
export async function withdraw(asked: Withdrawal, options: WithdrawOptions, io: AccountIo): Promise<number> {
  const { currency, amount } = asked;
  const { address = '', wire = false, memo = '' } = options;
  if (currency !== 'usd' && address === '')
    throw new OperatorError('usage', 'withdraw: --address is missing');
  if (currency === 'usd' && address !== '')
    throw new OperatorError('usage', 'withdraw: usd goes to the linked bank account; omit --address');
  if (currency !== 'usd' && wire) throw new OperatorError('usage', 'withdraw: --wire applies only to usd');
  if (!amount.gt(0)) throw new OperatorError('usage', 'withdraw: the amount must be above zero');
  return await withAccount(options, io, async (session) => {
    await checkWithdrawal(asked, session);
    const { fee } = await answerOf(session.venue.withdrawFee(currency));
    const bank = wire ? 'the linked bank account by wire' : 'the linked bank account by ACH';
    const what = [
      `Withdraw ${amountInWords(amount, currency)}`,
      `to ${address === '' ? bank : address}${memo === '' ? '' : `, memo "${memo}"`}.`,
      `The fee is ${amountInWords(fee, currency)}. A withdrawal cannot be reversed.`,
    ];
    if (!(await confirmed(what.join('\n'), options, io))) return 0;
    const done = await answerOf(session.venue.withdraw({ currency, amount, address, isWire: wire, memo }));
    printOne(done, withdrawalColumns, { ...options, out: io.stdout });
    return 0;
  });
}

async function checkWithdrawal({ currency, amount }: Withdrawal, { venue }: Session): Promise<void> {
  const settings = (await answerOf(venue.currencies())).find(({ symbol }) => symbol === currency);
  if (settings === undefined)
    throw new OperatorError('usage', `withdraw: the account has no currency "${currency}"`);
  const { canWithdraw, minWithdrawal, precision } = settings;
  if (!canWithdraw)
    throw new OperatorError('usage', `withdraw: withdrawals of ${currency} are disabled at the moment`);
  if (amount.lt(minWithdrawal))
    throw new OperatorError('usage', `withdraw: the minimum is ${text(minWithdrawal)} ${currency}`);
  if (decimalsOf(amount) > precision)
    throw new OperatorError(
      'usage',
      `withdraw: ${currency} has ${precision} decimals, ${text(amount)} has more`,
    );
}

const feeColumns: readonly Column<{ readonly currency: string; readonly fee: Quantity }>[] = [
  column('currency', (row) => row.currency),
  figure('fee', (row) => text(row.fee)),
];

export async function withdrawFee(
  currency: string,
  options: AccountOptions & { readonly channel?: FeeChannel | undefined },
  io: AccountIo,
): Promise<number> {
  if (options.channel !== undefined && currency !== 'usd')
    throw new OperatorError('usage', 'withdraw-fee: --channel applies only to usd');
  return await withAccount(options, io, async ({ venue }) => {
    const { fee } = await answerOf(venue.withdrawFee(currency, options.channel));
    printOne({ currency, fee }, feeColumns, { ...options, out: io.stdout });
    return 0;
  });
}

export async function ruleList(options: AccountOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { data } = await answerOf(venue.approvalRules());
    printRows(data, ruleColumns, { ...options, none: 'No approval rules.', out: io.stdout });
    return 0;
  });
}

export interface RuleOptions extends MovingOptions {
  readonly approvals?: number | undefined;
  /** USD. */
  readonly threshold?: Money | undefined;
}

const ruleInWords = ({ approvals, threshold }: RuleOptions): string =>
  [
    ...(approvals === undefined ? [] : [`needs ${approvals} ${approvals === 1 ? 'approval' : 'approvals'}`]),
    ...(threshold === undefined ? [] : [`above ${amountInWords(threshold, 'usd')}`]),
  ].join(' ');

export async function ruleAdd(
  ruleType: RuleType,
  options: RuleOptions & { readonly approvals: number },
  io: AccountIo,
): Promise<number> {
  const { approvals, threshold } = options;
  if (ruleType === 'WITHDRAW' && threshold === undefined)
    throw new OperatorError('usage', 'approval-rules add WITHDRAW: --threshold is missing');
  return await withAccount(options, io, async ({ venue }) => {
    if (!(await confirmed(`A new rule: ${ruleType} ${ruleInWords(options)}.`, options, io))) return 0;
    const rule = await answerOf(venue.addRule({ ruleType, requiredApprovals: approvals, threshold }));
    printOne(rule, ruleColumns, { ...options, out: io.stdout });
    return 0;
  });
}

export async function ruleEdit(id: string, options: RuleOptions, io: AccountIo): Promise<number> {
  const { approvals, threshold } = options;
  if (approvals === undefined && threshold === undefined)
    throw new OperatorError('usage', 'approval-rules edit: give --approvals, --threshold or both');
  return await withAccount(options, io, async ({ venue }) => {
    if (!(await confirmed(`Change rule ${id}: it ${ruleInWords(options)}.`, options, io))) return 0;
    const rule = await answerOf(venue.changeRule(id, { requiredApprovals: approvals, threshold }));
    printOne(rule, ruleColumns, { ...options, out: io.stdout });
    return 0;
  });
}

export async function requestList(
  options: AccountOptions & { readonly all?: boolean | undefined },
  io: AccountIo,
): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const rows = await answerOf(venue.approvals({ pending: options.all !== true }));
    printRows(rows, requestColumns, { ...options, none: 'No requests wait for approval.', out: io.stdout });
    return 0;
  });
}

/** Approves or refuses a request after showing its content. */
export async function requestAnswer(
  id: string,
  options: MovingOptions & { readonly approve: boolean },
  io: AccountIo,
): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const request = (await answerOf(venue.approvals({ pending: true }))).find((each) => each.id === id);
    if (request === undefined) throw new OperatorError('usage', `no request ${id} waits for approval`);
    const { amount, currency, address } = request.details;
    const about =
      amount === undefined
        ? request.approvalType
        : `${request.approvalType} ${amountInWords(amount, currency)}${address === '' ? '' : ` to ${address}`}`;
    const verb = options.approve ? 'Approve' : 'Refuse';
    if (!(await confirmed(`${verb} request ${id} of ${request.requestedBy}: ${about}.`, options, io)))
      return 0;
    await answerOf(venue.answerApproval(id, options.approve));
    io.stderr.write(`Request ${id} was ${options.approve ? 'approved' : 'refused'}.\n`);
    return 0;
  });
}

export async function addressList(options: AccountOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { data } = await answerOf(venue.whitelist());
    printRows(data, addressColumns, { ...options, none: 'The whitelist is empty.', out: io.stdout });
    return 0;
  });
}

export async function addressAdd(
  { currency, address }: { readonly currency: string; readonly address: string },
  options: MovingOptions & { readonly alias?: string | undefined },
  io: AccountIo,
): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const what = `Allow withdrawals of ${currency} to ${address}.`;
    if (!(await confirmed(what, options, io))) return 0;
    const row = await answerOf(venue.addAddress({ currency, address, alias: options.alias }));
    printOne(row, addressColumns, { ...options, out: io.stdout });
    return 0;
  });
}

export async function addressRemove(id: string, options: MovingOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    if (!(await confirmed(`Remove address ${id} from the whitelist.`, options, io))) return 0;
    await answerOf(venue.removeAddress(id));
    io.stderr.write(`Address ${id} was removed.\n`);
    return 0;
  });
}
