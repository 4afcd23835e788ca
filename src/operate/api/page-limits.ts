/** Items of a page without `limit`, and with the largest. */
export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 500;
