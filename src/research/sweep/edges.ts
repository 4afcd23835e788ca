import { parseDuration, parseTime } from '../../core/time.ts';
import { fieldsOf, valuesOf } from './vary.ts';

/** A field whose best value is the smallest or largest one tried, so that a better value may lie beyond. */
export interface Edge {
  readonly field: string;
  readonly value: string;
  readonly end: 'lowest' | 'highest';
}

/** Returns where a value of a field lies on its axis: a number as it is, a duration or a time in ms; `undefined` for others. */
export function placeOf(value: string): number | undefined {
  if (value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  for (const read of [parseDuration, parseTime])
    try {
      return read(value);
    } catch {
      continue;
    }
  return undefined;
}

/** Returns the fields whose best value is at an edge, of fields that vary together each. Values without an order have no edge. */
export const edgesOf = (
  fields: readonly string[],
  settings: readonly (readonly string[])[],
  best: number | undefined,
): readonly Edge[] =>
  fields.flatMap((field, i) =>
    fieldsOf({ field }).flatMap((name, part): readonly Edge[] => {
      const values = settings.map((setting) => valuesOf({ field }, setting[i] ?? '')[part] ?? '');
      const places = values.flatMap((value) => placeOf(value) ?? []);
      const value = best === undefined ? undefined : values[best];
      const place = value === undefined ? undefined : placeOf(value);
      const [low, high] = [Math.min(...places), Math.max(...places)];
      if (value === undefined || place === undefined || low === high) return [];
      if (place === low) return [{ field: name, value, end: 'lowest' }];
      return place === high ? [{ field: name, value, end: 'highest' }] : [];
    }),
  );
