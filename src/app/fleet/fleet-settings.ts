import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import { unusable } from '../config/config.ts';
import type { OperateConfig } from '../config/config.ts';
import { explain } from '../config/explain.ts';
import { problemAt, readFile, shownPath } from '../config/files.ts';
import type { Environment } from '../config/yaml.ts';
import type { FleetRoles } from './fleet-roles.ts';

const name = z.string().regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' });
const file = z.string().min(1);

/** Schema of the file of `tranche run --fleet --settings`. */
const fleetSettings = z.strictObject({
  listen: z
    .string()
    .regex(/^(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}$/u, {
      error: 'expected an address and a port, such as "127.0.0.1:8400"',
    }),
  hosts: z.array(z.string().min(1).max(255)).max(20).default([]),
  allow_network: z.boolean().default(false),
  tls: z.strictObject({ key_file: file, certificate_file: file, client_ca_file: file.optional() }).optional(),
  groups: z.record(name, z.array(name)).default({}),
  tokens: z
    .array(
      z.strictObject({
        name,
        kind: z.enum(['person', 'program']).default('person'),
        token_file: file,
        roles: z.array(z.strictObject({ role: z.enum(roles), on: z.array(name).min(1).optional() })).min(1),
      }),
    )
    .max(50)
    .default([]),
}); // prettier-ignore

export interface FleetSettings extends FleetRoles {
  readonly operate: Pick<OperateConfig, 'listen' | 'hosts' | 'allowNetwork' | 'tls' | 'tokens'>;
}

/** Reads the settings file of a fleet daemon. @throws OperatorError `config` with every problem of the file */
export function readFleetSettings(
  path: string,
  options: { readonly cwd: string; readonly env: Environment },
): FleetSettings {
  const { documents, problems } = readFile(path, options);
  const [document] = documents;
  if (problems.length > 0) throw unusable(problems);
  if (document === undefined)
    throw unusable([problemAt(shownPath(path, options.cwd), 'the file is empty: add listen: 127.0.0.1:8400')]);
  const parsed = fleetSettings.safeParse(document.value);
  if (!parsed.success) throw unusable(explain(parsed.error, fleetSettings, document));
  const { listen, hosts, allow_network: allowNetwork, tls, tokens, groups } = parsed.data;
  const near = (relative: string): string => resolve(dirname(path), relative);
  return {
    operate: {
      listen,
      hosts,
      allowNetwork,
      tls: tls && {
        key: near(tls.key_file),
        certificate: near(tls.certificate_file),
        clientCa: tls.client_ca_file === undefined ? undefined : near(tls.client_ca_file),
      },
      tokens: tokens.map((one) => ({
        name: one.name,
        kind: one.kind,
        file: near(one.token_file),
        // The role on all desks; `roleOnDesk` returns the role on one desk.
        role: roles.findLast((role) => one.roles.some((given) => given.on === undefined && given.role === role)) ?? 'viewer',
      })),
    },
    groups: new Map(Object.entries(groups)),
    rolesOf: new Map(tokens.map((one) => [one.name, one.roles])),
  };
} // prettier-ignore
