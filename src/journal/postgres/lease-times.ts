/** Duration of a lease from its last renewal: a successor waits at most this long for an owner that died without a word. */
export const LEASE_MS = 10_000;

/** Interval between renewals. An owner that lives has renewed its lease within this time, give or take the server's delay. */
export const RENEW_MS = 1_000;
