/** Default number and maximum number of items on a page. */
export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 500;
