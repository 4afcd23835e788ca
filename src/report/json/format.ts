/**
 * Format version: it increases when a field is removed or changes its meaning. New fields may be added
 * without a new version.
 */
export const REPORT_FORMAT = 1;
