/** Default number and maximum number of items on a page. */
export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 500;

/** Maximum number of rows that one command attributes, and the maximum length of their ids. */
export const ROWS_MAX = 100;
export const ROW_ID_MAX = 100;
