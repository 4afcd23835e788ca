interface Place {
  readonly keys: Iterator<unknown, undefined>;
  /** The oldest, once it was looked at. */
  key: unknown;
}

/** Where each map is to be looked into for its oldest entry. */
const places = new WeakMap<ReadonlyMap<unknown, unknown>, Place>();

/**
 * The oldest key of a map, `undefined` when there is none. A map keeps the places of what was deleted for a while, and who
 * begins at its first steps over all of them: this goes on from where it was. Nobody else deletes entries. One may be
 * deleted to be set again, as the newest, where nobody asks for the oldest but to forget it.
 */
export function oldestOf<K>(map: ReadonlyMap<K, unknown>): K | undefined {
  const place = placeIn(map);
  place.key ??= place.keys.next().value;
  // At its end an iterator stays there, whatever is added.
  if (place.key === undefined) places.delete(map);
  return place.key as K | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion -- from the same map
}

export function forgetOldest<K>(map: Map<K, unknown>): void {
  const key = oldestOf(map);
  if (key === undefined) return;
  map.delete(key);
  placeIn(map).key = undefined;
}

function placeIn(map: ReadonlyMap<unknown, unknown>): Place {
  let place = places.get(map);
  if (place === undefined) {
    place = { keys: map.keys(), key: undefined };
    places.set(map, place);
  }
  return place;
}
