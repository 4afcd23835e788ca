import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { ruleTypes } from '../../../wire/custody.ts';
import { feeChannels } from '../../../wire/withdrawal.ts';
import {
  addressArgument,
  idArgument,
  leaf,
  moneyArgument,
  movingLeaf,
  quantityArgument,
  ruleTypeArgument,
  symbolArgument,
  upTo,
} from './account-options.ts';
import type { AccountCli } from './account-options.ts';

/** Adds the commands for withdrawals, and for the rules and people that approve them. */
export function addCustody(account: Command, world: AccountCli): void {
  addWithdrawals(account, world);
  addRules(account, world);
  addWhitelist(account, world);
}

function addWithdrawals(account: Command, { io, done }: AccountCli): void {
  movingLeaf(account, 'withdraw', 'start one withdrawal')
    .argument('<currency>', 'such as btc', symbolArgument)
    .argument('<amount>', 'amount in that currency', quantityArgument)
    .option(
      '--address <address>',
      'destination address; usd goes to the linked bank account',
      addressArgument,
    )
    .option('--wire', 'usd only: use a wire transfer instead of ACH')
    .option('--memo <text>', 'memo of the withdrawal')
    .action(async (currency, amount, options) => {
      const { withdraw } = await import('../../commands/account/account-custody.ts');
      done(await withdraw({ currency, amount }, options, io));
    });
  leaf(account, 'withdraw-fee', 'show the fee of a withdrawal')
    .argument('<currency>', 'such as btc', symbolArgument)
    .addOption(new Option('--channel <channel>', 'usd only: kind of wire transfer').choices(feeChannels))
    .action(async (currency, options) => {
      const { withdrawFee } = await import('../../commands/account/account-custody.ts');
      done(await withdrawFee(currency, options, io));
    });
}

function addRules(account: Command, { io, done }: AccountCli): void {
  const rules = account
    .command('approval-rules')
    .description('list and change the rules for approving withdrawals');
  leaf(rules, 'list', 'list the rules').action(async (options) => {
    const { ruleList } = await import('../../commands/account/account-custody.ts');
    done(await ruleList(options, io));
  });
  movingLeaf(rules, 'add', 'propose a rule')
    .argument('<type>', ruleTypes.join(', '), ruleTypeArgument)
    .requiredOption('--approvals <n>', 'number of approvals required', upTo(100))
    .option('--threshold <usd>', 'amount above which the rule applies; required for WITHDRAW', moneyArgument)
    .action(async (type, options) => {
      const { ruleAdd } = await import('../../commands/account/account-custody.ts');
      done(await ruleAdd(type, options, io));
    });
  movingLeaf(rules, 'edit', 'propose a change to a rule')
    .argument('<id>', 'id of the rule', idArgument)
    .option('--approvals <n>', 'number of approvals required', upTo(100))
    .option('--threshold <usd>', 'amount above which the rule applies', moneyArgument)
    .action(async (id, options) => {
      const { ruleEdit } = await import('../../commands/account/account-custody.ts');
      done(await ruleEdit(id, options, io));
    });
  leaf(rules, 'requests', 'list the requests that wait for approval')
    .option('--all', 'include decided requests')
    .action(async (options) => {
      const { requestList } = await import('../../commands/account/account-custody.ts');
      done(await requestList(options, io));
    });
  for (const [name, approve] of [
    ['approve', true],
    ['refuse', false],
  ] as const) {
    // prettier-ignore
    movingLeaf(rules, name, `${name} a request`)
      .argument('<id>', 'id of the request', idArgument)
      .action(async (id, options) => {
        const { requestAnswer } = await import('../../commands/account/account-custody.ts');
        done(await requestAnswer(id, { ...options, approve }, io));
      });
  }
}

function addWhitelist(account: Command, { io, done }: AccountCli): void {
  const whitelist = account
    .command('whitelist')
    .description('list and change the approved withdrawal addresses');
  leaf(whitelist, 'list', 'list the addresses').action(async (options) => {
    const { addressList } = await import('../../commands/account/account-custody.ts');
    done(await addressList(options, io));
  });
  movingLeaf(whitelist, 'add', 'add an address')
    .argument('<currency>', 'such as btc', symbolArgument)
    .argument('<address>', 'withdrawal address', addressArgument)
    .option('--alias <name>', 'name of the address')
    .action(async (currency, address, options) => {
      const { addressAdd } = await import('../../commands/account/account-custody.ts');
      done(await addressAdd({ currency, address }, options, io));
    });
  movingLeaf(whitelist, 'remove', 'remove an address')
    .argument('<id>', 'id of the address', idArgument)
    .action(async (id, options) => {
      const { addressRemove } = await import('../../commands/account/account-custody.ts');
      done(await addressRemove(id, options, io));
    });
}
