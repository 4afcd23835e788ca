/** What a caller may do; each includes those before it. */
export const roles = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof roles)[number];
