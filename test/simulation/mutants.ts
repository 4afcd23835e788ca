import { ownedMutants } from './owners/mutants.ts';
import { peopledMutants, wholeMutants } from './whole/mutants.ts';
import type { Mutant as WholeMutant } from './whole/mutants.ts';

/**
 * Rules of the real source, each with a patch that breaks it. A patch is laid over the source when it is loaded
 * (`mutate.ts`), so that the product itself has no switches. A simulation must detect every broken rule: a surviving mutant
 * means that no simulation checks its rule.
 */
export interface Mutant {
  readonly name: string;
  /** The rule that the patches break. */
  readonly rule: string;
  readonly killedBy: 'A' | 'B' | 'C' | 'D';
  readonly patches: readonly Patch[];
  /** Another layer that hides it, and is off too. */
  readonly layerOff?: string | undefined;
}

export interface Patch {
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

const ANSWER = 'src/core/cycle/answer.ts';
const CYCLE = 'src/core/cycle/cycle.ts';
const PROOF = 'src/core/cycle/proof.ts';
const JUDGE = 'src/core/account/judge.ts';
const ROWS = 'src/core/account/rows.ts';
const BOOKED = 'src/core/account/booked-fill.ts';
const CONTROLS = 'src/core/risk/controls.ts';
const STATE = 'src/engine/state/engine-state.ts';

const noMargin: Patch = {
  file: CYCLE,
  find: 'const notBefore = after(quoteLife.upper, bookingMarginMs);',
  replace: 'const notBefore = quoteLife.upper;',
};

const ofCore: readonly Mutant[] = [
  // what an answer means
  {
    name: 'timeout-is-failure',
    rule: 'an order that was not answered is a doubt',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: 'return answer.sent ? doubt(answer.why)',
        replace: "return answer.sent ? { means: 'not_sent', detail: answer.why }",
      },
    ],
  },
  {
    name: 'garbled-is-failure',
    rule: 'an order whose answer cannot be read is a doubt',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: 'return doubt(`${answer.status}: ${answer.why}`);',
        replace: "return { means: 'not_sent', detail: answer.why };",
      },
    ],
  },
  {
    name: 'gateway-error-is-failure',
    rule: 'a 5xx may come after the order was executed',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: 'if (status >= 500 || status < 400',
        replace:
          "if (status >= 500 || status === 408) return { means: 'not_sent', detail };\n      if (status < 400",
      },
    ],
  },
  {
    name: 'redirect-is-failure',
    rule: 'a 3xx or 409 response does not state the outcome of the order',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: 'if (status >= 500 || status < 400',
        replace:
          "if (status < 400 || [409, 425, 429].includes(status)) return { means: 'not_sent', detail };\n      if (status >= 500",
      },
    ],
  },
  {
    name: 'unauthorised-goes-on',
    rule: 'a refused token halts the desk',
    killedBy: 'A',
    patches: [
      { file: ANSWER, find: 'return doubt(detail, { halt: true });', replace: 'return doubt(detail);' },
    ],
  },
  {
    name: 'wrong-id-is-fill',
    rule: 'an answer that names another client id proves nothing',
    killedBy: 'A',
    layerOff: 'the same rule for an answer that names another quote',
    patches: [
      {
        file: ANSWER,
        find: 'if (order.clientId !== request.clientId)',
        replace: "if (order.clientId === '')",
      },
      {
        file: ANSWER,
        find: "if (order.quoteId !== '' && order.quoteId !== request.quoteId)",
        replace: "if (order.quoteId === '-')",
      },
    ],
  },
  {
    name: 'unknown-status-is-refusal',
    rule: 'a status that is neither Done nor Canceled is a doubt',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: "if (status !== 'done') return doubt(`status ${order.status}`);",
        replace: "if (status !== 'done') return { means: 'not_sent', detail: order.status };",
      },
    ],
  },
  {
    name: 'fill-as-quoted',
    rule: 'a fill is booked as reported, not as quoted',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: "return { means: 'filled', order, differs: fillDifference(quote, order) };",
        replace:
          "return { means: 'filled', order: { ...order, filled: quote.quantity, filledAmount: quote.amount }, differs: undefined };",
      },
    ],
  },
  {
    name: 'quote-for-more',
    rule: 'a quote for another quantity is dropped',
    killedBy: 'A',
    patches: [
      {
        file: ANSWER,
        find: "if (request.size.by === 'quantity' && !quote.quantity.eq(request.size.quantity)) {",
        replace: "if (request.size.by === 'quantity' && quote.quantity.isZero()) {",
      },
    ],
  },
  // the cycle
  {
    name: 'first-canceled-believed',
    rule: 'a cancelled order is looked up in the account',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: "return { state: 'doubt', proof, reason, detail, halt: false };",
        replace:
          "return reason === 'order_canceled' ? { state: 'ended', result: 'rejected', reason, detail, next: AGAIN } : { state: 'doubt', proof, reason, detail, halt: false };",
      },
    ],
  },
  {
    name: 'refusal-believed',
    rule: 'a refused order is looked up in the account',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: "return { state: 'doubt', proof, reason, detail, halt: false };",
        replace:
          "return reason === 'order_refused' ? { state: 'ended', result: 'rejected', reason, detail, next: AGAIN } : { state: 'doubt', proof, reason, detail, halt: false };",
      },
    ],
  },
  {
    name: 'refusal-before-expiry',
    rule: 'a refused or cancelled order may still trade by another copy until its quote has expired',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: "const proof: Proof = { readsLeft: 1, notBefore, proves: 'rejected' };",
        replace:
          "const proof: Proof = { readsLeft: 1, notBefore: after(quoteLife.receivedAt, bookingMarginMs), proves: 'rejected' };",
      },
    ],
  },
  {
    name: 'no-margin-after-canceled',
    rule: 'the read after a "no" waits for the booking margin',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: "const proof: Proof = { readsLeft: 1, notBefore, proves: 'rejected' };",
        replace: "const proof: Proof = { readsLeft: 1, notBefore: quoteLife.upper, proves: 'rejected' };",
      },
    ],
  },
  {
    name: 'absence-before-expiry',
    rule: 'absence is proven only once the quote has expired',
    killedBy: 'A',
    patches: [{ ...noMargin, replace: 'const notBefore = quoteLife.receivedAt;' }],
  },
  {
    name: 'one-read-no-margin',
    rule: 'proof of absence requires two clean reads',
    killedBy: 'A',
    layerOff: 'the booking margin',
    patches: [
      noMargin,
      {
        file: CYCLE,
        find: 'Proof = { readsLeft: 2, notBefore',
        replace: 'Proof = { readsLeft: 1, notBefore',
      },
    ],
  },
  {
    name: 'wall-clock-expiry',
    rule: 'the life of a quote is measured as a duration on the monotonic clock',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'const upper = after(at, longestLifeMs(meaning.quote));',
        replace:
          'const upper = after(at, meaning.quote.expiresAt - (globalThis as unknown as { simulatedWall: number }).simulatedWall);',
      },
    ],
  },
  {
    name: 'give-up-after-reads',
    rule: 'no number of reads alone ends a doubt',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: "if (event.on !== 'clean_read' || event.startedAt < from.proof.notBefore) return from;",
        replace: "if (event.on !== 'clean_read') return from;",
      },
    ],
  },
  // after a restart
  {
    name: 'inherited-at-once',
    rule: 'an order of a dead process may trade for a whole quote life after the start',
    killedBy: 'A',
    patches: [{ file: PROOF, find: 'notBefore: after(startedAt, waitMs)', replace: 'notBefore: startedAt' }],
  },
  {
    name: 'inherited-closed',
    rule: 'an intent that a dead process left open is a doubt',
    killedBy: 'A',
    patches: [
      {
        file: STATE,
        find: `this.attempts.set(body.client_order_id, {
      intent: body,
      seq,
      since: at,
      rowBefore: this.rows.known,
      quote: undefined,
      doubt: undefined,
    });`,
        replace: '',
      },
    ],
  },
  {
    name: 'attempt-number-lost',
    rule: 'an attempt after a restart does not reuse an earlier attempt number',
    killedBy: 'A',
    patches: [
      { file: STATE, find: 'slice.attempts = Math.max(slice.attempts, body.attempt + 1);', replace: '' },
    ],
  },
  {
    name: 'latch-lost',
    rule: 'a halt survives a restart',
    killedBy: 'A',
    patches: [
      {
        file: STATE,
        find: 'this.control = body.state;',
        replace: "if (body.state !== 'halted') this.control = body.state;",
      },
    ],
  },
  {
    name: 'filled-forgotten',
    rule: 'a fill reduces the remainder of its slice',
    killedBy: 'A',
    patches: [
      {
        file: STATE,
        find: 'addTo(slice, { filled: amounts.quantity,',
        replace: 'addTo(slice, { filled: NO_QUANTITY,',
      },
    ],
  },
  {
    name: 'stray-forgotten',
    rule: 'a trade for a slice that the journal has not decided is remembered',
    killedBy: 'A',
    patches: [
      {
        file: STATE,
        find: 'const slice = this.slices.get(key) ?? this.strays.get(key);\n    if (slice === undefined && this.#tellLate(fill)) return;\n    if (slice === undefined) {',
        replace:
          'const slice = this.slices.get(key) ?? this.strays.get(key);\n    if (slice === undefined && this.#tellLate(fill)) return;\n    if (slice === undefined) return;\n    if (slice === undefined) {',
      },
    ],
  },
  // what a read means
  {
    name: 'one-leg-is-nothing',
    rule: 'one leg of a trade shows that it traded',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: 'const open = trade === undefined ? phase : certain(phase);',
        replace: 'const open = phase;',
      },
    ],
  },
  {
    name: 'part-is-whole',
    rule: 'a trade is booked only when the account shows all of it',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: "const extent = isComplete ? extentOf(order, trade) : 'other';",
        replace: "const extent = isComplete ? 'whole' : 'other';",
      },
    ],
  },
  {
    name: 'leg-is-whole',
    rule: 'a trade has figures only when both currencies have moved',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: 'const isComplete = trade !== undefined && hasBothLegs(trade);',
        replace: 'const isComplete = trade !== undefined;',
      },
    ],
  },
  {
    name: 'unattributed-ignored',
    rule: 'a row that belongs to nobody and could be the trade keeps the doubt open',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: "if (strange.length > 0) return { is: 'open', phase: open, why: 'unattributed', rows: strange, trade };",
        replace: '',
      },
    ],
  },
  {
    name: 'seen-at-any-time',
    rule: 'a row is harmless only if it was seen before the intent was durable',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: 'return seen === undefined || seen > intentSeq;',
        replace: 'return seen === undefined;',
      },
    ],
  },
  {
    name: 'row-counted-twice',
    rule: 'a row that two pages show counts once',
    killedBy: 'A',
    patches: [
      {
        file: ROWS,
        find: 'const rows = new Map(read.map((row) => [row.id, row]));',
        replace: 'const rows = new Map(read.map((row, at) => [`${row.id} ${at}`, row]));',
      },
    ],
  },
  {
    name: 'ids-forgotten',
    rule: 'after its clock is corrected, the desk still remembers its trades',
    killedBy: 'A',
    patches: [{ file: STATE, find: 'keepNewest(where, IDS_KEPT, ', replace: 'keepNewest(where, 0, ' }],
  },
  // the gate
  {
    name: 'halt-not-checked',
    rule: 'nothing starts while halted',
    killedBy: 'A',
    patches: [
      {
        file: CONTROLS,
        find: "if (control === 'halted') return stop('halted', 'active', 'halted');",
        replace: "if (control === 'halted') return undefined;",
      },
    ],
  },
  {
    name: 'pause-not-checked',
    rule: 'nothing starts while paused',
    killedBy: 'A',
    patches: [
      {
        file: CONTROLS,
        find: "if (control === 'paused') return stop('paused', 'active', control);",
        replace: '',
      },
    ],
  },
  {
    name: 'pair-doubts-not-counted',
    rule: 'no order of a pair leaves while another order of the pair is in doubt',
    killedBy: 'A',
    patches: [{ file: CONTROLS, find: 'if (world.pairDoubts > 0)', replace: 'if (world.pairDoubts > 99)' }],
  },
  {
    name: 'doubts-without-limit',
    rule: 'no more doubts are open than the limit allows',
    killedBy: 'A',
    patches: [
      {
        file: CONTROLS,
        find: 'if (world.openDoubts >= limits.openDoubtsMax)',
        replace: 'if (world.openDoubts > 99)',
      },
    ],
  },
  {
    name: 'doubts-not-in-day-total',
    rule: 'attempts under way and in doubt count towards the day at their worst case',
    killedBy: 'A',
    patches: [{ file: STATE, find: 'sum = add(sum, money(intent.notional_usd));', replace: '' }],
  },
  {
    name: 'day-not-counted',
    rule: 'executed trades count towards the day',
    killedBy: 'A',
    patches: [
      { file: 'src/engine/state/totals.ts', find: 'day.total = combine(day.total, notional);', replace: '' },
    ],
  },
  {
    name: 'order-limit-off',
    rule: 'no order is larger than its limit',
    killedBy: 'A',
    patches: [
      { file: CONTROLS, find: 'if (!notional.lte(orderNotionalMax))', replace: 'if (notional.lt(0))' },
    ],
  },
  {
    name: 'collar-off',
    rule: 'a price outside the collar is not accepted',
    killedBy: 'A',
    patches: [
      { file: CONTROLS, find: 'if (!away.abs().lte(limits.collarBps))', replace: 'if (away.abs().lt(0))' },
    ],
  },
  {
    name: 'order-start-too-late',
    rule: 'an order must reach the venue while its quote certainly lives',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'after(quoteLife.lower, -orderMarginMs);',
        replace: 'after(quoteLife.upper, orderMarginMs);',
      },
    ],
  },
  // orders in parts
  {
    name: 'missing-part-again',
    rule: 'the missing part of an executed order counts as filled',
    layerOff: 'the pause because of the missing part',
    killedBy: 'A',
    patches: [
      {
        file: JUDGE,
        find: "return { is: 'filled', trade, differs, missing };",
        replace: "void differs; void missing; return { is: 'filled', trade };",
      },
    ],
  },
  {
    name: 'further-row-agrees',
    rule: 'a row in addition to those of a fill is a further trade',
    killedBy: 'A',
    patches: [
      {
        file: BOOKED,
        find: 'rows.length === fill.rows.length)',
        replace: 'rows.length >= fill.rows.length)',
      },
    ],
  },
  {
    name: 'part-judged-at-once',
    rule: 'a fill that shows less than its order is still being booked until the margin is over',
    killedBy: 'A',
    patches: [
      {
        file: BOOKED,
        find: '(found.isLess && !isDue)',
        replace: '(found.isLess && isDue && !isDue)',
      },
    ],
  },
  {
    name: 'more-is-whole',
    rule: 'an execution beyond the order is a second execution, which halts the desk',
    killedBy: 'A',
    patches: [
      {
        file: 'src/core/cycle/order-extent.ts',
        find: "return isTwice || isBeyond(asked, wanted, unit) ? 'more' : 'other';",
        replace: "void isTwice; void isBeyond; return 'whole';",
      },
    ],
  },
  // ids
  {
    name: 'id-without-attempt',
    rule: 'every attempt has an id of its own',
    killedBy: 'A',
    patches: [
      {
        file: 'src/core/ids.ts',
        find: 'const body = `tr-${deskMark(desk)}-${parent}-${slice.toString(36)}-${attempt.toString(36)}`;',
        replace:
          'const body = `tr-${deskMark(desk)}-${parent}-${slice.toString(36)}-${(attempt * 0).toString(36)}`;',
      },
    ],
  },
];

const ofWhole =
  (killedBy: 'B' | 'C') =>
  ({ name, file, find, put, also = [] }: WholeMutant): Mutant => ({
    name: name.replaceAll(' ', '-'),
    rule: `not: ${name}`,
    killedBy,
    patches: [{ file, find, put }, ...also].map((each) => ({
      file: each.file,
      find: each.find,
      replace: each.put,
    })),
    ...(also.length === 0 ? {} : { layerOff: also.map((each) => `\`${each.find.trim()}\``).join(' and ') }),
  });

/** All of them: those of the core, which simulation A must see, and those of the engine around it, for B and C; those of owners, for D. */
export const mutants: readonly Mutant[] = [
  ...ofCore,
  ...wholeMutants.map(ofWhole('B')),
  ...peopledMutants.map(ofWhole('C')),
  ...ownedMutants,
];

export function mutantOf(name: string): Mutant {
  const found = mutants.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`there is no mutant ${name}`);
  return found;
}
