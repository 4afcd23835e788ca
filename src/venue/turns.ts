/** Runs a function soon, in order of the calls. */
export type Turns = (run: () => void) => void;

/**
 * Runs each function in its own turn of the event loop, after all input that had arrived by then. A commit and an
 * order follow the answer to a quote: if many answers of one moment were processed in a row, a signal or a command
 * that arrived with them would wait until after their last order.
 */
export function turnByTurn(): Turns {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    const run = waiting.shift();
    // `setImmediate` inside an immediate runs one turn later.
    if (waiting.length > 0) setImmediate(next);
    run?.();
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) setImmediate(next);
  };
}

/** Runs immediately, for virtual time, in which no other input can arrive. */
export const atOnce: Turns = (run) => {
  run();
};
