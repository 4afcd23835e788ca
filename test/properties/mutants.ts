import type { Patch } from '../simulation/mutants.ts';

/** Rules about the rows of the account, each with a patch that breaks it. The properties must notice every one. */
export interface Mutant {
  readonly name: string;
  /** The rule that the patches break. */
  readonly rule: string;
  readonly patches: readonly Patch[];
}

const ROWS = 'src/core/account/rows.ts';
const JUDGE = 'src/core/account/judge.ts';
const FILL = 'src/core/account/booked-fill.ts';
const CYCLE = 'src/core/cycle/cycle.ts';
const PROOF = 'src/core/cycle/proof.ts';
const EXTENT = 'src/core/cycle/order-extent.ts';
const VENUE = 'src/core/venue.ts';

const one = (name: string, rule: string, patch: Patch): Mutant => ({ name, rule, patches: [patch] });

export const mutants: readonly Mutant[] = [
  one('believe-a-stamp', 'no stamp makes a row harmless', {
    file: JUDGE,
    find: "if (currency !== '' && !most.has(currency)) return false;",
    replace: "if ((currency !== '' && !most.has(currency)) || row.at === 0) return false;",
  }),
  one('believe-a-direction', 'no direction makes a row harmless', {
    file: JUDGE,
    find: "if (currency !== '' && !most.has(currency)) return false;",
    replace:
      "if ((currency !== '' && !most.has(currency)) || (row.action !== 'other' && row.action !== intent.side)) return false;",
  }),
  one('ignore-unreadable-currency', 'a currency that cannot be read may be one of the pair', {
    file: JUDGE,
    find: "if (currency !== '' && !most.has(currency)) return false;",
    replace: 'if (!most.has(currency)) return false;',
  }),
  one('seen-at-any-time', 'only a read before the intent makes a row harmless', {
    file: JUDGE,
    find: 'return seen === undefined || seen > intentSeq;',
    replace: 'return seen === undefined;',
  }),
  one('seen-just-after-the-intent', 'what a read showed after the intent may be the order', {
    file: JUDGE,
    find: 'return seen === undefined || seen > intentSeq;',
    replace: 'return seen === undefined || seen > intentSeq + 1;',
  }),
  one('as-large-is-too-large', 'only a row larger than the order is too large', {
    file: JUDGE,
    find: 'if (limit !== undefined && spoiled === undefined && size(amount).gt(limit)) return false;',
    replace:
      'if (limit !== undefined && spoiled === undefined && size(amount).gte(limit.minus(limit.times(1e-7)))) return false;',
  }),
  one('spoiled-is-too-large', 'the order of a row that cannot be read is not larger than ours', {
    file: JUDGE,
    find: 'spoiled === undefined && size(amount).gt(limit)) return false;',
    replace: '(spoiled !== undefined || size(amount).gt(limit))) return false;',
  }),
  one('ignore-gaps', 'a read with a gap proves nothing', {
    file: JUDGE,
    find: "if (hasHole(intent, read)) return { is: 'open', phase: open, why: 'hole', rows: [], trade };",
    replace: '',
  }),
  one('whole-without-a-quote', 'without a quote nothing is whole before the margin', {
    file: JUDGE,
    find: "extent === 'whole' && order.quoted !== undefined) return",
    replace: "extent === 'whole') return",
  }),
  one('one-leg-is-complete', 'a fill has both legs', {
    file: ROWS,
    find: 'base.gt(0) && amount.gt(0);',
    replace: 'base.gt(0) || amount.gt(0);',
  }),
  one('one-leg-is-absent', 'an order with one leg has traded', {
    file: JUDGE,
    find: 'const open = trade === undefined ? phase : certain(phase);',
    replace: 'const open = isComplete ? certain(phase) : phase;',
  }),
  one('filled-early', 'a trade that is not whole waits for the margin', {
    file: JUDGE,
    find: 'if (!isComplete || next.proof.readsLeft > 0)',
    replace: 'if (!isComplete)',
  }),
  one('strange-rows-after-the-trade', 'rows of nobody hold a trade open that is not whole', {
    file: JUDGE,
    find: 'if (strange.length > 0) return',
    replace: 'if (strange.length > 0 && trade === undefined) return',
  }),
  one('foreign-id-without-an-echo', "another text is another's only where our ids have shown", {
    file: ROWS,
    find: 'else if (known.echoesIds && isAnothers(',
    replace: 'else if (isAnothers(',
  }),
  one('mangled-is-foreign', "a mangled id of ours is not another's", {
    file: 'src/core/ids.ts',
    find: 'return ours.includes(bare) || bare.includes(ours) || bare.includes(head) || bare.includes(tail);',
    replace: 'return bare === ours || (head === tail && tail === bare);',
  }),
  one('foreign-text-first', 'an exact order id outweighs a replaced client id', {
    file: ROWS,
    find: '  tieOrders();\n  for (const id of anothers)',
    replace: '  for (const id of anothers)',
  }),
  one('ignore-spoiled-rows', 'a row that cannot be read is a row', {
    file: ROWS,
    find: 'unattributed: loose.filter(({ id }) => !owners.has(id)),',
    replace: 'unattributed: loose.filter(({ id, spoiled }) => !owners.has(id) && spoiled === undefined),',
  }),
  one('read-spoiled-rows', "a row with a field that cannot be read is nobody's", {
    file: ROWS,
    find: "spoiled !== undefined || action === 'other';",
    replace: "action === 'other';",
  }),
  one('other-is-no-trade', 'an action that nobody knows may be a trade', {
    file: ROWS,
    find: "action === 'buy' || action === 'sell' || action === 'other';",
    replace: "action === 'buy' || action === 'sell';",
  }),
  one('no-tie-by-order', 'an order id ties rows', {
    file: ROWS,
    find: "    tie(rows, owners, 'orderId', alone, (id) => known.orderOf(id));\n",
    replace: '',
  }),
  one('no-tie-by-known-order', 'the journal knows order ids', {
    file: ROWS,
    find: "'orderId', alone, (id) => known.orderOf(id)",
    replace: "'orderId', alone",
  }),
  one('no-tie-by-trade', 'a trade id ties rows', {
    file: ROWS,
    find: "    tie(rows, owners, 'tradeId', alone);\n",
    replace: '',
  }),
  one('counted-trade-ids-tie', 'a trade id of two orders names neither', {
    file: ROWS,
    find: 'if (own === undefined || orderId === undefined || own === orderId) owners',
    replace: 'owners',
  }),
  one('placeholders-tie', 'a placeholder ties nothing', {
    file: 'src/core/ids.ts',
    find: 'shown === undefined || NO_ID.test(shown) ? undefined : shown;',
    replace: 'shown;',
  }),
  one('forget-words', "a person's word decides", {
    file: ROWS,
    find: 'if (word !== undefined || row.isSettlement === true) owners.set(row.id, word?.ours);',
    replace: 'if (word !== undefined && row.clientId === undefined) owners.set(row.id, word.ours);',
  }),
  one('ignore-fee-rows', 'fees count wherever they are booked', {
    file: ROWS,
    find: "action === 'charge' || action === 'credit';",
    replace: "action === 'charge';",
  }),
  one('fee-as-signed', 'a charge takes money, whatever sign it shows', {
    file: ROWS,
    find: "action === 'charge' ? negate(size(amount)) : size(amount);",
    replace: 'amount;',
  }),
  one('fees-of-the-quote-leg-only', 'fees count in their own currency', {
    file: ROWS,
    find: 'if (row.is_fee !== true || moved.isZero()) pay(',
    replace: 'if (row.currency === quote && (row.is_fee !== true || moved.isZero())) pay(',
  }),
  one('moved-row-added', 'a row under another id is the same row', {
    file: ROWS,
    find: 'const moved = movesOf(gone.filter(covers), fresh);',
    replace: 'const moved = new Map<RowText, RowText>();',
  }),
  one('moved-only-if-equal', 'a row may be amended as it moves', {
    file: ROWS,
    find: 'if (!moved.has(was) && fresh.delete(now.id))',
    replace: 'if (was.amount === now.amount && !moved.has(was) && fresh.delete(now.id))',
  }),
  one('amendments-unseen', 'figures of known rows are compared', {
    file: ROWS,
    find: 'now: now.get(was.id) ?? moved.get(was) ?? was',
    replace: 'now: moved.get(was) ?? was',
  }),
  one('only-new-rows-summed', 'a fill is the sum of all its rows', {
    file: FILL,
    find: 'const figures = figuresOf(fill, rows);',
    replace:
      'const figures = figuresOf(fill, rows.filter((row) => fill.rows?.every(({ id }) => id !== row.id) ?? true));',
  }),
  one('part-counts-early', 'less than the order counts once the margin is over', {
    file: FILL,
    find: 'if (!isWhole || found.isHalfMore || (found.isLess && !isDue)) {',
    replace: 'if (!isWhole || found.isHalfMore || found.isLess) {',
  }),
  one('margin-from-the-receipt', "the margin counts from the quote's end", {
    file: CYCLE,
    find: 'const notBefore = after(quoteLife.upper, bookingMarginMs);',
    replace: 'const notBefore = after(quoteLife.receivedAt, bookingMarginMs);',
  }),
  one('no-margin', 'rows may show until the margin is over', {
    file: CYCLE,
    find: 'const notBefore = after(quoteLife.upper, bookingMarginMs);',
    replace: 'const notBefore = quoteLife.upper;',
  }),
  one('one-read-after-silence', 'silence needs two reads', {
    file: CYCLE,
    find: "{ readsLeft: 2, notBefore, proves: 'absent' }",
    replace: "{ readsLeft: 1, notBefore, proves: 'absent' }",
  }),
  one('reads-at-once', 'the two reads lie apart', {
    file: CYCLE,
    find: 'notBefore: after(event.startedAt, event.gapMs)',
    replace: 'notBefore: after(event.startedAt, event.gapMs / 2)',
  }),
  one('end-by-date-quote-only', 'the end of a quote is the latest that its stamps allow', {
    file: VENUE,
    find: 'answeredAt === undefined ? lifeMs : Math.max(lifeMs, expiresAt - answeredAt);',
    replace: 'answeredAt === undefined ? lifeMs : Math.min(lifeMs, Math.max(lifeMs, expiresAt));',
  }),
  one('restart-at-once', 'a quote of a dead process may live on', {
    file: PROOF,
    find: 'Math.max(0, 2 * lifeMs + clockSlackMs - sinceAskedMs)) + bookingMarginMs;',
    replace: 'Math.max(0, lifeMs + clockSlackMs - 2 * sinceAskedMs)) + bookingMarginMs;',
  }),
  one('no-wait-after-a-restart', 'a proof goes on with the time that it still needs', {
    file: PROOF,
    find: 'Math.max(0, proof.wait_ms - passedSince(proof.boot, boot))',
    replace: '0',
  }),
  one('boots-are-one', 'clocks of two boots are not compared', {
    file: PROOF,
    find: 'passedSince(proof.boot, boot));',
    replace: 'passedSince(proof.boot, boot && proof.boot && { ...boot, id: proof.boot.id }));',
  }),
  one('certain-forgotten', 'an order that has traded stays so after a restart', {
    file: PROOF,
    find: "isTraded === true ? 'nothing' : (proof?.proves ?? 'absent');",
    replace: "(proof?.proves === 'nothing' ? 'absent' : proof?.proves) ?? 'absent';",
  }),
  one('lost-quote-bounded', 'without a quote the worst price bounds only one side', {
    file: EXTENT,
    find: "return intent.side === 'sell' ? quantityUp(counted(wanted), worst, 18) : undefined;",
    replace: 'return quantityUp(counted(wanted), worst, 18);',
  }),
];
