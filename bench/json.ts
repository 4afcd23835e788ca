/**
 * Measures reading 1,000 transactions without losing digits, against plain `JSON.parse` of the same text in the same run.
 * Rounds alternate, and every round reads its own text, so that no cache of the JavaScript engine helps. Exit code 1 when
 * the target is missed, or when a single number lost digits.
 *
 * Run: `node bench/json.ts [--json]`
 */
import { readBody } from '../src/wire/message.ts';
import { median, table } from './measure.ts';

const TARGET = 3;
const ROUNDS = 41;
const ROWS = 1_000;

/** Returns one leg of a trade as the venue shows it, with figures that no float can hold. `n` makes every row different. */
const row = (n: number): string =>
  `{"id":${9_007_199_254_000_000 + n},"atxid":null,"order_id":"${700_000_000 + n}","client_order_id":"tr-fp27-qytziuey-${n.toString(36)}-0-kgwu",` +
  `"trade_id":"${800_000_000 + n}","day":"2026-01-02T03:04:05.000Z","action":"${n % 2 === 0 ? 'Buy' : 'Sell'}","currency":"${n % 2 === 0 ? 'btc' : 'usd'}",` +
  `"memo":"","amount":${n % 2 === 0 ? '' : '-'}${n}.100000000000000001,"net_proceeds":-${60_000 + n}.100000000000000003,` +
  `"price":${60_000 + n}.000000000000000009,"fees":0.000000000000000${n + 1},"status":"done","hold_expires":"","tx_hash":"","algo_name":"Instant","algo_id":"150",` +
  `"account_balance":${12_345_678 + n}.123456789012345678,"AccountTransferFee":0,"description":"said \\"amount\\":${n}","wallet_display_id":"5a3f1c9e",` +
  `"added_by_user_email":"desk@example.com","symbol":"btcusd","IdempotencyId":null,"timestamp":${1_767_323_045_000 + n}}`;

const document = (round: number): string =>
  `[${Array.from({ length: ROWS }, (_, i) => row(round * ROWS + i)).join(',')}]`;

/** Counts the numbers of a document that the parser changed: each must come back as its text, or as a number with the same text. */
function lostNumbers(parse: (source: string) => unknown, round: number): number {
  const rows = parse(document(round)) as readonly Readonly<Record<string, unknown>>[];
  let lost = 0;
  for (let i = 0; i < ROWS; i++) {
    for (const [, name = '', written] of row(round * ROWS + i).matchAll(/"(\w+)":(-?\d[\d.]*)/gu)) {
      if (String(rows[i]?.[name]) !== written) lost++;
    }
  }
  return lost;
}

const time = (parse: (source: string) => unknown, source: string): number => {
  const begun = performance.now();
  parse(source);
  return performance.now() - begun;
};

const texts = Array.from({ length: ROUNDS }, (_, round) => document(round));
const lost = lostNumbers(readBody, ROUNDS);
const lostByParse = lostNumbers(JSON.parse, ROUNDS);
for (let i = 0; i < 10; i++) {
  // Warm-up with texts that are not measured.
  JSON.parse(document(ROUNDS + 1 + i));
  readBody(document(ROUNDS + 1 + i));
}
const ours: number[] = [];
const plain: number[] = [];
for (const [round, source] of texts.entries()) {
  // Each reader gets a copy, because the first one would flatten the text for the second.
  const [mine, theirs] = [Buffer.from(source).toString(), Buffer.from(source).toString()];
  if (round % 2 === 0) plain.push(time(JSON.parse, theirs));
  ours.push(time(readBody, mine));
  if (round % 2 === 1) plain.push(time(JSON.parse, theirs));
}

const ratio = Number(median(ours.map((ms, i) => ms / (plain[i] ?? Number.NaN))).toFixed(3));
const reached = ratio <= TARGET && lost === 0;
const results = [
  { reader: 'JSON.parse', medianMs: Number(median(plain).toFixed(3)), ratio: 1, lostNumbers: lostByParse },
  { reader: 'readBody', medianMs: Number(median(ours).toFixed(3)), ratio, lostNumbers: lost },
];
if (process.argv.includes('--json'))
  console.log(JSON.stringify({ bench: 'json', target: TARGET, reached, results }));
else {
  console.log(table(results));
  console.log(
    `${ROWS} rows, ${texts[0]?.length ?? 0} characters; target: at most ${TARGET} of JSON.parse: ${reached ? 'reached' : 'MISSED'}`,
  );
}
process.exitCode = reached ? 0 : 1;
