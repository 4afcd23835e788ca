import { OperatorError } from '../../../core/errors.ts';
import { collect, daemonCommand } from '../../cli/options.ts';
import type { AddCommands } from '../../cli/options.ts';
import { ask, tell } from './daemon-client.ts';
import { listOf, plain, unattributedWords } from './status.ts';
import { command } from './steer.ts';

const EVIDENCE = [
  '--evidence <text>',
  'what the venue confirmed, and who confirmed it; recorded in the journal',
] as const;
const ID = ['<id>', 'client order id, as shown by tranche doubts'] as const;

/**
 * Adds `tranche doubts`, `doubts resolve` and `doubts attribute`. Exit codes: 0, 64 for invalid arguments or without `--yes`, 69, 75 when
 * the desk refuses, because the resolution comes too early, contradicts the account or names an unknown order, because a row does not
 * hold the doubt open, or because another person must agree first.
 */
export const addDoubts: AddCommands = (cli, { io, config, done }) => {
  const leaf = daemonCommand(config);
  const doubts = leaf(cli, 'doubts', 'list doubts: orders whose outcome is unknown').action(
    async (options) => {
      const { body } = await ask(options, io, { path: '/api/v1/doubts' });
      const list = listOf(body['doubts']);
      tell(io, options.json, body, list.length === 0 ? ['no open doubts'] : list.flatMap(wordsOf));
      done(0);
    },
  );
  leaf(doubts, 'resolve', 'resolve a doubt by hand when the account cannot prove the outcome')
    .argument(...ID)
    .option('--not-executed', 'the order did not trade and cannot trade any more')
    .option('--filled', 'the order traded; without figures, wait until the account shows them')
    .option('--order-id <id>', 'with --filled: id of the order at the venue')
    .option('--quantity <decimal>', 'with --filled: executed quantity, in base currency')
    .option('--amount <decimal>', 'with --filled: executed amount, in quote currency, before fees')
    .option('--fees <decimal>', 'with --filled: fees, in quote currency')
    .requiredOption(...EVIDENCE)
    .requiredOption('--by <name>', 'name of the person who resolves the doubt')
    .option('--yes', 'confirm without a prompt')
    .action(async (id, options) => {
      const {
        notExecuted: isNotExecuted = false,
        filled: isFilled = false,
        orderId,
        quantity,
        amount,
        fees,
        evidence,
      } = options;
      if (isNotExecuted === isFilled)
        throw new OperatorError('usage', 'give either --not-executed or --filled');
      if (options.yes !== true)
        throw new OperatorError(
          'usage',
          `the journal will record permanently that ${id} was ${isFilled ? 'filled' : 'not executed'}. A wrong verdict makes the desk trade twice or lose a fill. Add --yes to confirm`,
        );
      const verdict = isFilled ? 'filled' : 'not_executed';
      const body = { client_order_id: id, verdict, evidence, order_id: orderId, quantity, amount, fees };
      done(await command({ ...options, ...doubts.opts() }, io, '/api/v1/doubts/resolve', body));
    });
  leaf(doubts, 'attribute', 'say whose rows hold a doubt open; the account then ends the doubt')
    .argument(...ID)
    .option('--row <id>', 'id of a row, as shown by tranche doubts; repeat for each row', collect, [])
    .option('--ours', 'the rows belong to this order')
    .option('--not-ours', 'the rows belong to no order of this desk')
    .requiredOption(...EVIDENCE)
    .requiredOption('--by <name>', 'name of the person who attributes the rows')
    .action(async (id, options) => {
      const { ours: isOurs = false, notOurs: isNotOurs = false, row: rows, evidence } = options;
      if (isOurs === isNotOurs) throw new OperatorError('usage', 'give either --ours or --not-ours');
      if (rows.length === 0)
        throw new OperatorError('usage', 'name each row with --row ID: tranche doubts shows the ids');
      const body = { client_order_id: id, verdict: isOurs ? 'ours' : 'not_ours', rows, evidence };
      done(await command({ ...options, ...doubts.opts() }, io, '/api/v1/doubts/resolve', body));
    });
};

const wordsOf = (one: Readonly<Record<string, unknown>>): readonly string[] => [
  `${plain(one['client_order_id'])}  ${plain(one['side'])} ${plain(one['size'])} of ${plain(one['pair'])}, at most ${plain(one['notional'])}`,
  `  ${plain(one['strategy'])} slice ${plain(one['slice'])}; open for ${plain(one['age_s'])} s; ${plain(one['why'])}`,
  one['earliest_answer_at'] === undefined
    ? '  traded; waiting for its figures'
    : `  earliest proof ${plain(one['earliest_answer_at'])}; clean reads of the account still needed: ${plain(one['clean_reads_left'])}`,
  ...unattributedWords(one['client_order_id'], one['unattributed']).map((line) => `  ${line}`),
];
