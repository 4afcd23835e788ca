import { Option } from '@commander-js/extra-typings';
import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { roles } from '../../../core/roles.ts';
import type { Role } from '../../../core/roles.ts';
import { BY, WHY, daemonCommand } from '../../cli/options.ts';
import type { AddCommands, DaemonOptions } from '../../cli/options.ts';
import { ask, tell } from './daemon-client.ts';
import type { Answer } from './daemon-client.ts';
import { whoami } from '../io.ts';
import type { CommandIo, Given } from '../io.ts';

/** Adds `tranche sign-in`, `people`, `people list`, `people invite` and `people remove`. Exit codes: 0, 69, 75 when the desk refuses. */
export const addPeople: AddCommands = (cli, { io, config, done }) => {
  const leaf = daemonCommand(config);
  leaf(cli, 'sign-in', 'print a one-time link that signs in a browser on this machine')
    .addOption(new Option('--role <role>', 'role of the browser (default: admin)').choices(roles))
    .action(async ({ role, ...options }) => {
      if (options.url !== undefined)
        throw new OperatorError(
          'usage',
          "sign-in links can be created only on the desk's machine: run tranche sign-in there, without --url",
        );
      const body = role === undefined ? {} : { role };
      const answer = await ask(options, io, { path: '/api/v1/sign-in/new-link', body });
      const minutes = Number(answer.body['life_s']) / 60;
      const head = `open this link in a browser on this machine within ${minutes} minutes; it works once:`;
      done(answered(options, io, answer, () => [head, textOf(answer.body['link'])]));
    });
  const list = async (options: DaemonOptions): Promise<void> => {
    const { body } = await ask(options, io, { path: '/api/v1/people' });
    const { items = [] } = body as { readonly items?: readonly ShownPerson[] };
    tell(io, options.json, body, items.length === 0 ? [NOBODY] : items.map(personLine));
    done(0);
  };
  const does = 'list the people who may sign in to the dashboard';
  const people = leaf(cli, 'people', does).action(list);
  leaf(people, 'list', does).action(async (options) => await list({ ...options, ...people.opts() }));
  leaf(people, 'invite', 'print a one-time link with which a person enrols a passkey')
    .argument('<name>', 'name of the person, recorded in the journal: letters, digits and . @ _ -')
    .addOption(new Option('--role <role>', 'role of the person').choices(roles).makeOptionMandatory(true))
    .requiredOption(...WHY)
    .option(...BY)
    .action(async (name, { role, why, ...given }) => {
      const options = { ...given, ...people.opts() };
      const body = { name, role, why, ...signedBy(options, io) };
      const answer = await ask(options, io, { path: '/api/v1/people/invite', body });
      const hours = Number(answer.body['life_s']) / 3_600;
      const head = `${textOf(answer.body['says'])}. Send this link to ${name} over a channel that only ${name} can read; it works once, within ${hours} h:`;
      done(answered(options, io, answer, () => [head, textOf(answer.body['link'])]));
    });
  leaf(people, 'remove', 'remove a person: end their sessions and refuse their sign-in')
    .argument('<name>', 'name, as shown by tranche people')
    .requiredOption(...WHY)
    .option(...BY)
    .action(async (name, { why, ...given }) => {
      const options = { ...given, ...people.opts() };
      const body = { name, why, ...signedBy(options, io) };
      const answer = await ask(options, io, { path: '/api/v1/people/remove', body });
      done(answered(options, io, answer, () => [textOf(answer.body['says'])]));
    });
};

interface ShownPerson {
  readonly name: string;
  readonly role: Role;
  readonly state: string;
  readonly passkeys: readonly unknown[];
  readonly invited_by: string;
}

const NOBODY =
  'nobody is invited; tranche people invite NAME --role ROLE --why REASON prints an invitation link';

function personLine({ name, role, state, passkeys, invited_by: by }: ShownPerson): string {
  const keys = passkeys.length === 1 ? '1 passkey' : `${passkeys.length} passkeys`;
  return [name.padEnd(20), role.padEnd(9), state.padEnd(8), keys, `invited by ${by}`].join('  ');
}

/** Adds the name of the command's user if the token is the machine's, which identifies nobody. Other tokens have a name. */
const signedBy = ({ url, by }: Given<'url' | 'by'>, io: CommandIo): { readonly by?: string } =>
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
  return exitCodes.again;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : 'no reason given');
