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

/** Returns the highest role that a caller has on a desk, or `undefined` if the caller has none and must not see the desk. */
export function roleOnDesk(
  { groups, rolesOf }: FleetRoles,
  { name, kind, role }: Pick<Caller, 'name' | 'kind' | 'role'>,
  desk: string,
): Role | undefined {
  // The operating system user of the daemon, who can change these roles.
  if (kind === 'machine') return role;
  const isOf = (one: string): boolean => one === desk || groups.get(one)?.includes(desk) === true;
  const given = (rolesOf.get(name) ?? []).filter(({ on }) => on === undefined || on.some(isOf));
  return roles.findLast((highest) => given.some((one) => one.role === highest));
}
