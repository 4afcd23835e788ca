/** The own property `name` of `of`. Names come from the network, so `toString` or `__proto__` must not match a setting. */
export const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;
