/**
 * Remembers, beyond the end of the process, which notices of the journal's records still wait for delivery. The state is the
 * notifier's own text.
 */
export interface OutboxPort {
  /** `undefined`: nothing was ever saved. */
  load(): string | undefined;
  /**
   * Durable, all or nothing. `false`: the disk is full, or only its reserve is left, and nothing changed. Throws if the
   * disk failed; the journal beside it then also accepts nothing more.
   */
  save(state: string): boolean;
}

/** An outbox that ends with its process. */
export function memoryOutbox(): OutboxPort {
  let kept: string | undefined;
  return {
    load: () => kept,
    save(state) {
      kept = state;
      return true;
    },
  };
}
