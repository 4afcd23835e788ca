import { OperatorError } from '../../core/errors.ts';
import { approximate } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { knownAt, lastKnownRow, priceAt } from '../../research/tape/tape.ts';
import type { Tape } from '../../research/tape/tape.ts';
import type { Recorded } from '../../research/twin/recorded.ts';
import { strategies } from '../../strategy/registry.ts';

/** Largest median distance between the prices in a file and those that live saw. Beyond it, the file must belong to another pair. */
const GAP_MAX = 0.05;

/**
 * Returns what a reader must know about the prices of a twin.
 *
 * @throws OperatorError `usage` if a file does not contain the prices that live saw.
 */
export function priceNotes(recorded: Recorded, tapes: readonly Tape[]): readonly string[] {
  const given = new Set(tapes.map(({ pair }) => pair));
  const own = [...recorded.references.keys()].filter((pair) => !given.has(pair));
  return [
    ...tapes.flatMap((tape) => tapeNotes(recorded, tape)),
    ...(own.length === 0
      ? []
      : [
          `prices of ${own.join(', ')} are the reference prices that the journal recorded at decisions and attempts: give a finer history with --data ${own[0] ?? ''}=FILE`,
          ...followersNote(recorded),
        ]),
  ];
}

function tapeNotes({ references, from, until }: Recorded, tape: Tape): readonly string[] {
  const gaps = (references.get(tape.pair) ?? []).flatMap(({ at, price }) => {
    const row = lastKnownRow(tape, at);
    const seen = approximate(price);
    return row < 0 ? [] : [Math.abs(approximate(priceAt(tape.close, row)) - seen) / seen];
  });
  const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
  if (median !== undefined && median > GAP_MAX)
    throw new OperatorError(
      'usage',
      `--data: the median distance of the prices of ${tape.pair} from the prices that the desk saw is ${(100 * median).toFixed(1)} %: check that the file has the right pair and time`,
    );
  const last = knownAt(tape, tape.rows - 1);
  return knownAt(tape, 0) <= from && last >= until
    ? []
    : [
        `prices of ${tape.pair} reach from ${isoOf(knownAt(tape, 0))} to ${isoOf(last)}, the journal from ${isoOf(from)} to ${isoOf(until)}: outside that range, the twin does not trade or trades at the last price`,
      ];
}

/**
 * Names the strategies whose decisions depend on prices or volumes between two references. For the others, the
 * references in the journal suffice.
 */
function followersNote({ texts }: Recorded): readonly string[] {
  const documents = texts.flatMap((each) => each.documents);
  const names = [
    ...new Set(
      documents.filter(({ type }) => strategies.get(type)?.isTimed !== true).map(({ strategy }) => strategy),
    ),
  ];
  return names.length === 0
    ? []
    : [
        `${names.join(', ')}: the decisions of such a strategy depend on prices or volumes between those references, which the twin does not have: without --data, its differences are not findings`,
      ];
}
