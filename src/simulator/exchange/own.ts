/** What `of` itself has under `name`: names come from the network, and `toString` or `__proto__` are nobody's setting. */
export const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;
