/** The value that was entered first; `undefined` of an empty map. */
export function oldestOf<V>(map: ReadonlyMap<unknown, V>): V | undefined {
  const [oldest] = map.values();
  return oldest;
}

/** Removes the entry that was made first: for maps that are bounded by what came last. */
export function deleteOldest(map: Map<unknown, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
