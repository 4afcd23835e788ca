import { OperatorError } from '../../../core/errors.ts';
import type { Role } from '../../../core/roles.ts';
import { ask, tell } from './daemon-client.ts';
import { whoami } from '../io.ts';
import type { Answer } from './answer.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo } from '../io.ts';

export interface PersonOptions extends DaemonOptions {
  readonly why: string;
  readonly by?: string | undefined;
}

/** Lists the people who may sign in. Exit codes: 0, 69. */
export async function listPeople(options: DaemonOptions, io: CommandIo): Promise<number> {
  const { body } = await ask(options, io, { path: '/api/v1/people' });
  const { items = [] } = body as { readonly items?: readonly ShownPerson[] };
  const lines = items.map(({ name, role, state, passkeys, invited_by: by }) => {
    const keys = passkeys.length === 1 ? '1 passkey' : `${passkeys.length} passkeys`;
    return [name.padEnd(20), role.padEnd(9), state.padEnd(8), keys, `invited by ${by}`].join('  ');
  });
  const none =
    'nobody is invited; tranche people invite NAME --role ROLE --why REASON prints an invitation link';
  tell(io, options.json, body, lines.length === 0 ? [none] : lines);
  return 0;
}

interface ShownPerson {
  readonly name: string;
  readonly role: Role;
  readonly state: string;
  readonly passkeys: readonly unknown[];
  readonly invited_by: string;
}

/** Prints a link with which one person enrols a passkey. Exit codes: 0, 69, 75 when the desk refuses. */
export async function invitePerson(
  name: string,
  { role, ...options }: PersonOptions & { readonly role: Role },
  io: CommandIo,
): Promise<number> {
  const { status, body } = await ask(options, io, {
    path: '/api/v1/people/invite',
    body: { name, role, why: options.why, ...signedBy(options, io) },
  });
  const hours = Number(body['life_s']) / 3_600;
  return answered(options, io, { status, body }, () => [
    `${textOf(body['says'])}. Send this link to ${name} over a channel that only ${name} can read; it works once, within ${hours} h:`,
    textOf(body['link']),
  ]);
}

/** Removes a person: ends their sessions and refuses further sign-ins. Exit codes: 0, 69, 75 when the desk refuses. */
export async function removePerson(name: string, options: PersonOptions, io: CommandIo): Promise<number> {
  const answer = await ask(options, io, {
    path: '/api/v1/people/remove',
    body: { name, why: options.why, ...signedBy(options, io) },
  });
  return answered(options, io, answer, () => [textOf(answer.body['says'])]);
}

/** Prints a link that signs in a browser of this machine, once. Exit codes: 0, 69. */
export async function signInLink(
  { role, ...options }: DaemonOptions & { readonly role?: Role | undefined },
  io: CommandIo,
): Promise<number> {
  if (options.url !== undefined)
    throw new OperatorError(
      'usage',
      "sign-in links can be created only on the desk's machine: run tranche sign-in there, without --url",
    );
  const body = role === undefined ? {} : { role };
  const answer = await ask(options, io, { path: '/api/v1/sign-in/new-link', body });
  const minutes = Number(answer.body['life_s']) / 60;
  return answered(options, io, answer, () => [
    `open this link in a browser on this machine within ${minutes} minutes; it works once:`,
    textOf(answer.body['link']),
  ]);
}

/** Names the user of the command for the token of the machine, which identifies nobody; other tokens have a name. */
const signedBy = ({ url, by }: PersonOptions, io: CommandIo): { readonly by?: string } =>
  by === undefined ? (url === undefined ? { by: whoami(io) } : {}) : { by };

function answered(
  { json }: DaemonOptions,
  io: CommandIo,
  { status, body }: Answer,
  words: () => readonly string[],
): number {
  if (status === 200) {
    tell(io, json, body, words());
    return 0;
  }
  if (json === true) tell(io, json, body, []);
  else io.stderr.write(`refused: ${textOf(body['error'] ?? body['says'])}\n`);
  return REFUSED;
}

const REFUSED = 75;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : 'no reason given');
