/** Constants of the interface for code that does not load its schemas, which are slow to build. */

/** Algorithms of a limit order: the venue routes 200 `Smart`, but not 201 `Limit`. Source: public documentation. */
export const limitAlgorithms = { 200: 'Smart', 201: 'Limit' } as const;
