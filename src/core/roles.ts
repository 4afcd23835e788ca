/** What a caller may do; each role includes the previous ones. */
export const roles = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof roles)[number];
