/** Number of the shape: it grows when a field goes or changes its meaning. New fields may come without. */
export const REPORT_FORMAT = 1;
