import type { Desk } from '../../engine/desk.ts';
import type { Command } from '../../engine/ports.ts';
import type { PeopleDesk } from '../../operate/sign-in/people-desk.ts';
import { answered } from './desk-api.ts';

/** Who may sign in, as the journal says. `send` gives a command to the engine in this tick. */
export const peopleDesk = ({ state }: Pick<Desk, 'state'>, send: (command: Command) => void): PeopleDesk => ({
  get: (name) => state.people.get(name),
  all: () => state.people.all(),
  ownerOf: (passkeyId) => state.people.ownerOf(passkeyId),
  record: (record) =>
    answered((answer) => {
      send({ do: 'person', record, answer });
    }),
});
