/** Constants of the interface for code that does not load its schemas, which are slow to build. */

/** Pause of a route after a 429. The response states none. Source: public documentation. */
export const ROUTE_COOL_DOWN_MS = 10_000;

/** Algorithms of a limit order: the venue routes 200 `Smart`, but not 201 `Limit`. Source: public documentation. */
export const limitAlgorithms = { 200: 'Smart', 201: 'Limit' } as const;
