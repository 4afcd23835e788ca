import { EMPTY, filter, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { PersonRecord, RecordBody } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';

type PersonCommand = Command & { readonly do: 'person' };

/** People who may sign in or were invited, and the passkeys of one person. */
const PEOPLE_MAX = 500;
const PASSKEYS_MAX = 10;
/** The same format as that of token names, because the journal contains both. */
const NAME = /^[\w.@-]{1,60}$/u;

/** Records invitations, enrolments, sign-ins and removals, if they are allowed. */
export const people = (desk: Desk): Observable<unknown> =>
  desk.ports.operator$.pipe(
    filter((command): command is PersonCommand => command.do === 'person'),
    mergeMap((command) => {
      const { record } = command;
      const fault = personRecordFault(desk, record);
      if (fault !== undefined) {
        command.answer({ isDone: false, says: fault });
        return EMPTY;
      }
      return desk.journal.append([record, ...settingsAfter(desk, record)]).pipe(
        tap(() => {
          command.answer({ isDone: true, says: SAYS[record.step](record) });
        }),
      );
    }),
  );

function settingsAfter({ state, settings, ports }: Desk, record: PersonRecord): readonly RecordBody[] {
  const { step, by, why, token } = record;
  const person = step === 'signed_in' ? undefined : state.people.after(record, ports.clock.wall());
  return person === undefined ? [] : settings.person(person, { cause: 'person', by, why, token });
}

const SAYS: Readonly<Record<PersonRecord['step'], (record: PersonRecord) => string>> = {
  invited: ({ person, role }) => `${person} is invited as ${role}`,
  enrolled: ({ person, role }) => `${person} has enrolled a passkey and is ${role}`,
  signed_in: ({ person }) => `${person} has signed in`,
  removed: ({ person }) => `${person} can no longer sign in`,
};

/** Why this cannot be recorded; `undefined` when it can. */
function personRecordFault({ state }: Desk, record: PersonRecord): string | undefined {
  const { person: name, step, role, passkey, by, why } = record;
  if (by.trim() === '') return 'name the operator';
  if (why.trim() === '') return 'give the reason';
  const known = state.people.get(name);
  switch (step) {
    case 'invited': {
      if (!NAME.test(name)) return 'a name has 1 to 60 letters, digits and . @ _ -';
      if (known?.state === 'active' && known.role !== role)
        return `${known.name} is ${known.role}: remove ${known.name} first, then invite again as ${role}`;
      const others = [...state.people.all()].filter((one) => one.state !== 'removed' && one !== known);
      return others.length < PEOPLE_MAX ? undefined : `there are ${PEOPLE_MAX} people: remove some first`;
    }
    case 'enrolled':
      if (known === undefined || known.state === 'removed') return `${name} is not invited`;
      if (passkey?.public_key === undefined) return 'the passkey is missing';
      if (state.people.ownerOf(passkey.id) !== undefined) return 'this passkey is enrolled already';
      if (known.role !== role) return `${known.name} is invited as ${known.role}`;
      return known.passkeys.length < PASSKEYS_MAX
        ? undefined
        : `${known.name} has ${PASSKEYS_MAX} passkeys: remove ${known.name}, then invite again`;
    case 'signed_in':
      return known?.passkeys.some(({ id }) => id === passkey?.id) === true
        ? undefined
        : `this passkey is not one of ${name}`;
    case 'removed':
      if (known === undefined) return `there is no person ${name}`;
      return known.state === 'removed' ? `${known.name} is removed already` : undefined;
  }
}
