/** An object with one value for each name, in the order of the names. */
export const mapped = <Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> => Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all names

/** The same object; each of its getters is called once, when its field is first read. */
export function onDemand<Row extends object>(row: Row): Row {
  for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(row))) {
    if (field.get === undefined) continue;
    let read: { readonly value: unknown } | undefined;
    Object.defineProperty(row, name, {
      get: () => (read ??= { value: field.get?.call(row) as unknown }).value,
    });
  }
  return row;
}
