/** Asks once for what many tests look at. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return async () => await (asked ??= ask());
}
