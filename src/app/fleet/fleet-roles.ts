import { roles } from '../../core/roles.ts';
import type { Role } from '../../core/roles.ts';
import type { Caller } from '../../operate/access.ts';

/** A role on some desks. */
export interface RoleOn {
  readonly role: Role;
  /** Desks and groups of desks. Omitted: all desks. */
  readonly on?: readonly string[] | undefined;
}

export interface FleetRoles {
  /** Desks by group. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Roles by name of the token. */
  readonly rolesOf: ReadonlyMap<string, readonly RoleOn[]>;
}

/** The highest role that a caller has on a desk; `undefined`: none, and the desk is not shown. */
export function roleOnDesk(
  { groups, rolesOf }: FleetRoles,
  { name, kind, role }: Pick<Caller, 'name' | 'kind' | 'role'>,
  desk: string,
): Role | undefined {
  // The user of the daemon on its machine, who can change these roles.
  if (kind === 'machine') return role;
  const isOf = (one: string): boolean => one === desk || groups.get(one)?.includes(desk) === true;
  const given = (rolesOf.get(name) ?? []).filter(({ on }) => on === undefined || on.some(isOf));
  return roles.findLast((highest) => given.some((one) => one.role === highest));
}
