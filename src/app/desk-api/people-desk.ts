import type { Desk } from '../../engine/desk.ts';
import type { Command } from '../../engine/ports.ts';
import type { PeopleDesk } from '../../operate/sign-in/people-desk.ts';
import { answered } from './desk-api.ts';

/** Gives access to the people who may sign in, from the journal. `send` passes a command to the engine in this tick. */
export const peopleDesk = (
  { state, ports }: Pick<Desk, 'state' | 'ports'>,
  send: (command: Command) => void,
): PeopleDesk => ({
  get: (name) => state.people.get(name),
  all: () => state.people.all(),
  ownerOf: (passkeyId) => state.people.ownerOf(passkeyId),
  record: (record): ReturnType<typeof answered> =>
    answered({ ports }, (answer) => {
      send({ do: 'person', record, answer });
    }),
});
