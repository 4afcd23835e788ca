/**
 * Keeps the newest `max` entries of a map and those that must not go yet; returns how many went. Entries go once there are a quarter
 * more, all at once: a `Map` that is read from its start passes over the places of those it deleted before, each time.
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
