/**
 * The own property `name` of `of`: names come from the network, and `toString` or `__proto__` must not match a setting.
 */
export const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;
