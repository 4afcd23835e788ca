import { join, resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { ask, tell } from '../commands/desk/daemon-client.ts';
import type { CommandIo } from '../commands/io.ts';
import { readControl } from '../daemon/control-file.ts';
import { controlOf } from './serve-fleet.ts';

export interface FleetSignInOptions {
  /** Folder of the daemon, as given to `tranche run --fleet`. */
  readonly folder?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Prints a one-time link that signs in a browser on this machine to the pages of its daemon. */
export async function fleetSignIn(
  { folder = './var/fleet', json }: FleetSignInOptions,
  io: CommandIo,
): Promise<number> {
  const place = resolve(io.cwd, folder);
  const { url, token } = readControl(`${join(place, controlOf)}.control`) ?? {};
  if (url === undefined || token === undefined)
    throw new OperatorError(
      'unavailable',
      `no daemon that serves the dashboard keeps its files in ${place}: start it with tranche run --fleet URL --settings FILE, or name its folder with --folder`,
    );
  const own = { ...io, env: { ...io.env, TRANCHE_OPERATOR_TOKEN: token } };
  const { body } = await ask({ config: '', url }, own, { path: '/api/v1/sign-in/new-link', body: {} });
  tell(io, json, body, ['open this link in a browser on this machine soon; it works once:', String(body['link'])]);
  return 0;
} // prettier-ignore
