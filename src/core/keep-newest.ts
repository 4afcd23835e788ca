/**
 * Removes the oldest entries of a map beyond `max`, except those that must not be removed yet. Returns how many were
 * removed. Removes in batches, once the map has a quarter more entries, because each iteration from the start of a
 * `Map` passes over the slots of previously deleted entries.
 */
export function keepNewest<V>(
  map: Map<unknown, V>,
  max: number,
  mayGo: (value: V) => boolean = () => true,
): number {
  if (map.size <= max * 1.25) return 0;
  const { size } = map;
  for (const [key, value] of map) {
    if (map.size <= max || !mayGo(value)) break;
    map.delete(key);
  }
  return size - map.size;
}
