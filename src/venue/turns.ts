/** Runs what it is given, soon and in order. */
export type Turns = (run: () => void) => void;

/**
 * Each in a turn of the event loop of its own, after everything that had come in by then was heard. The answer to a quote
 * is followed by a commit and an order: were many answers of one moment handled in a row, a signal or a command that came
 * with them would be heard after the last of their orders.
 */
export function turnByTurn(): Turns {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    const run = waiting.shift();
    // Set inside an immediate, the next one runs a turn later.
    if (waiting.length > 0) setImmediate(next);
    run?.();
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) setImmediate(next);
  };
}

/** At once, where nothing else can come in: in virtual time. */
export const atOnce: Turns = (run) => {
  run();
};
