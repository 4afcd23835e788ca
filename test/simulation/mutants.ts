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
const DOUBTS = 'src/core/cycle/doubts.ts';
const EVIDENCE = 'src/core/cycle/evidence.ts';
const CONTROLS = 'src/core/risk/controls.ts';
const STATE = 'src/engine/state/engine-state.ts';

const noMargin: Patch = {
  file: CYCLE,
  find: 'notBefore: after(quoteLife.upper, trust.bookingMarginMs)',
  replace: 'notBefore: quoteLife.upper',
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
        find: '? doubt(answer.why, { isUnanswered: true })',
        replace: "? { means: 'not_sent', detail: answer.why }",
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
        find: 'return doubt(`${answer.status}: ${answer.why}`, { isUnanswered: true });',
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
        find: 'if (status >= 500 || status === 408) return doubt(detail, { isUnanswered: true });',
        replace: "if (status >= 500 || status === 408) return { means: 'not_sent', detail };",
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
        find: 'if (status < 400 || [409, 425, 429].includes(status)) return doubt(detail);',
        replace:
          "if (status < 400 || [409, 425, 429].includes(status)) return { means: 'not_sent', detail };",
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
        find: 'if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {',
        replace: 'if (meaning.isCanceled || trust.refusals) {',
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
        find: 'if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {',
        replace: 'if (!meaning.isCanceled || trust.firstCanceled) {',
      },
    ],
  },
  {
    name: 'negative-on-resend-believed',
    rule: 'a "no" to a second copy proves nothing about the first',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'if (copies > 1) return doubt(detail);',
        replace: "if (copies > 1) return { state: 'ended', result: 'rejected', reason, detail, next: END };",
      },
    ],
  },
  {
    name: 'resend-not-sent-believed',
    rule: 'a second copy that was not sent proves nothing about the first',
    killedBy: 'A',
    patches: [{ file: CYCLE, find: 'if (copies > 1) return doubt(meaning.detail);', replace: '' }],
  },
  {
    name: 'resend-without-end',
    rule: 'there are at most three copies',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'const gapMs = RESEND_GAPS_MS[copies - 1];',
        replace: 'const gapMs: number | undefined = 300;',
      },
    ],
  },
  {
    name: 'resend-too-late',
    rule: 'a copy must reach the venue while its quote certainly lives',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'after(quoteLife.lower, -RESEND_MARGIN_MS)',
        replace: 'after(quoteLife.upper, RESEND_MARGIN_MS)',
      },
    ],
  },
  {
    name: 'refusal-before-expiry',
    rule: 'a refused order may still trade by another copy until its quote has expired',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'const settled = meaning.isCanceled || at > quoteLife.upper ? at : quoteLife.upper;',
        replace: 'const settled = at;',
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
        find: 'const notBefore = after(settled, trust.bookingMarginMs);',
        replace: 'const notBefore = settled;',
      },
    ],
  },
  {
    name: 'absence-before-expiry',
    rule: 'absence is proven only once the quote has expired',
    killedBy: 'A',
    patches: [{ ...noMargin, replace: 'notBefore: quoteLife.receivedAt' }],
  },
  {
    name: 'one-read-no-margin',
    rule: 'proof of absence requires two clean reads',
    killedBy: 'A',
    layerOff: 'the booking margin',
    patches: [
      noMargin,
      { file: CYCLE, find: 'proof: { readsLeft: 2, notBefore', replace: 'proof: { readsLeft: 1, notBefore' },
    ],
  },
  {
    name: 'wall-clock-expiry',
    rule: 'the life of a quote is measured as a duration on the monotonic clock',
    killedBy: 'A',
    patches: [
      {
        file: CYCLE,
        find: 'lower: after(askedAt, lifeMs), upper: after(at, lifeMs) };',
        replace:
          'lower: after(askedAt, lifeMs), upper: after(at, meaning.quote.expiresAt - (globalThis as unknown as { simulatedWall: number }).simulatedWall) };',
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
    patches: [{ file: DOUBTS, find: 'notBefore: after(startedAt, waitMs)', replace: 'notBefore: startedAt' }],
  },
  {
    name: 'inherited-closed',
    rule: 'an intent that a dead process left open is a doubt',
    killedBy: 'A',
    patches: [
      {
        file: STATE,
        find: 'this.attempts.set(body.client_order_id, { intent: body, since: at, quote: undefined, doubt: undefined });',
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
    patches: [{ file: STATE, find: 'slice.filled = add(slice.filled, amounts.quantity);', replace: '' }],
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
        file: DOUBTS,
        find: 'const before = trade === undefined ? phase : certain(phase);',
        replace: 'const before = phase;',
      },
    ],
  },
  {
    name: 'part-is-whole',
    rule: 'a trade is booked only when the account shows all of it',
    killedBy: 'A',
    patches: [
      {
        file: DOUBTS,
        find: "trade?.isWhole === true ? extentOf(open, { ...trade, trades: tradesIn(trade) }) : 'other'",
        replace: "trade?.isWhole === true ? 'whole' : 'other'",
      },
    ],
  },
  {
    name: 'leg-is-whole',
    rule: 'an order is complete only when each of its trades shows both legs',
    killedBy: 'A',
    patches: [
      {
        file: EVIDENCE,
        find: 'return ofBase?.symmetricDifference(ofQuote ?? new Set()).size === 0;',
        replace: 'return ofBase !== ofQuote;',
      },
    ],
    layerOff: 'the check that all of the order is visible',
  },
  {
    name: 'twin-ignored',
    rule: 'a row without an id that could belong to the order keeps the doubt open',
    killedBy: 'A',
    patches: [
      {
        file: DOUBTS,
        find: "if (row !== undefined) return { is: 'open', phase, why: 'lookalike', row };",
        replace: '',
      },
    ],
  },
  {
    name: 'row-counted-twice',
    rule: 'a row that two pages show counts once',
    killedBy: 'A',
    patches: [{ file: EVIDENCE, find: 'group.set(row.id, row);', replace: 'group.set(group.size, row);' }],
  },
  {
    name: 'adoption-off',
    rule: 'a trade that the journal does not know is booked',
    killedBy: 'A',
    patches: [
      { file: DOUBTS, find: 'unknown: strange.filter(({ isWhole }) => isWhole),', replace: 'unknown: [],' },
    ],
  },
  {
    name: 'adopted-leg-ignored',
    rule: 'one leg of an unknown trade already stops its slice',
    killedBy: 'A',
    patches: [
      { file: DOUBTS, find: 'waiting: strange.filter(({ isWhole }) => !isWhole),', replace: 'waiting: [],' },
    ],
  },
  {
    name: 'booked-twice',
    rule: 'a fill is booked once, whoever reports it',
    killedBy: 'A',
    patches: [{ file: DOUBTS, find: '!known.filledIds.has(clientId) && ', replace: '' }],
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
        file: DOUBTS,
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
        file: DOUBTS,
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
        file: 'src/core/cycle/compare-fill.ts',
        find: 'if (fresh.length === 0) return undefined;',
        replace: 'if (fresh.length >= 0) return undefined;',
      },
    ],
  },
  {
    name: 'part-judged-at-once',
    rule: 'a fill that shows less than its order is still being booked until the margin is over',
    killedBy: 'A',
    patches: [
      {
        file: 'src/core/cycle/compare-fill.ts',
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
