/** Asks once and shares the answer among several tests. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return async () => await (asked ??= ask());
}
