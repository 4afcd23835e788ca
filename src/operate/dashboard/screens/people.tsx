import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { count, shortTime } from '../data/format.ts';
import { second } from '../data/clock.ts';
import { me, post, problemOf } from '../data/request.ts';
import type { Done, Page, Person } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { announce } from '../parts/toast.tsx';

const levels = { invited: 'attention', active: 'good', removed: '' } as const;

interface Session {
  readonly session: string;
  readonly name: string;
  readonly via: string;
  readonly begun_at: string;
  readonly used_at: string;
  readonly is_own: boolean;
}

/** Who may do what? */
export function People(): JSX.Element {
  const read = useRead<Page<Person>>('people', {}, { kinds: ['person'], everyMs: 15_000 });
  const sessions = useRead<Page<Session>>('sessions', {}, { everyMs: 15_000 });
  const isInviting = useSignal(false);
  const removing = useSignal<string | undefined>(undefined);
  const link = useSignal<string | undefined>(undefined);
  const isAdmin = me.value?.role === 'admin';
  const people = read.data.value?.items ?? [];
  return (
    <>
      <h1 class="sr">People</h1>
      <Panel
        title="People"
        aside={
          <>
            {count(people.filter(({ state }) => state !== 'removed').length, 'person', 'people')}
            {isAdmin && (
              <button
                type="button"
                class="button small primary"
                onClick={() => {
                  isInviting.value = true;
                }}
              >
                Invite…
              </button>
            )}
          </>
        }
      >
        <Problem of={read.problem} />
        {link.value !== undefined && (
          <p class="new-link" role="status">
            Send this link to the person over a channel that only they can read. It works once:{' '}
            <code>{link}</code>
          </p>
        )}
        <Rows<Person>
          label="People"
          rows={people}
          keyOf={({ name }) => name}
          empty={read.data.value === undefined ? 'Reading…' : 'Nobody is enrolled yet.'}
          height={10}
          columns={[
            { title: 'Name', kind: 'wide', cell: ({ name }) => name },
            { title: 'Role', cell: ({ role }) => role },
            {
              title: 'Passkeys',
              kind: 'number',
              isExtra: true,
              cell: ({ passkeys }) => passkeys?.length ?? 0,
            },
            { title: 'State', cell: ({ state }) => <Tag level={levels[state]}>{state}</Tag> },
            { title: 'Invited by', isExtra: true, cell: ({ invited_by: by }) => by },
            {
              title: 'Action',
              cell: ({ name, state }) =>
                isAdmin &&
                state !== 'removed' && (
                  <button
                    type="button"
                    class="link"
                    aria-label={`Remove ${name}`}
                    onClick={() => {
                      removing.value = name;
                    }}
                  >
                    Remove…
                  </button>
                ),
            },
          ]}
        />
      </Panel>
      <Panel title="Sessions">
        <Problem of={sessions.problem} />
        <Rows<Session>
          label="Sessions"
          rows={sessions.data.value?.items ?? []}
          keyOf={({ session }) => session}
          empty="No session."
          height={6}
          columns={[
            {
              title: 'Who',
              kind: 'wide',
              cell: ({ name, is_own: isOwn }) => (
                <>
                  {name} {isOwn && <span class="muted">this one</span>}
                </>
              ),
            },
            { title: 'By', isExtra: true, cell: ({ via }) => via },
            { title: 'Since', kind: 'time', cell: ({ begun_at: at }) => shortTime(at, second.peek()) },
            { title: 'Used', kind: 'time', cell: ({ used_at: at }) => shortTime(at, second.peek()) },
            {
              title: 'Action',
              cell: ({ session }) => (
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    void end(session, sessions.reload);
                  }}
                >
                  End
                </button>
              ),
            },
          ]}
        />
      </Panel>
      {isInviting.value && (
        <Invite
          onLink={(made) => {
            link.value = made;
            read.reload();
          }}
          onClose={() => {
            isInviting.value = false;
          }}
        />
      )}
      {removing.value !== undefined && (
        <Dialog
          title={`Remove ${removing.value}?`}
          confirm="Remove"
          isDangerous
          reason="Reason (recorded in the journal)"
          isReasonNeeded
          act={async (why) => {
            const { says } = await post<Done>('people/remove', { name: removing.value, why });
            read.reload();
            return says ?? 'removed';
          }}
          onClose={() => {
            removing.value = undefined;
          }}
        >
          <p>Their passkeys and sessions end at once. What they did stays in the record.</p>
        </Dialog>
      )}
    </>
  );
}

async function end(session: string, onEnd: () => void): Promise<void> {
  try {
    const { says } = await post<Done>('sessions/revoke', { session, why: 'ended from the dashboard' });
    announce(says ?? 'The session has ended.');
    onEnd();
  } catch (error) {
    announce(problemOf(error));
  }
}

function Invite(props: {
  readonly onLink: (link: string) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const name = useSignal('');
  const role = useSignal('viewer');
  return (
    <Dialog
      title="Invite a person"
      confirm="Invite"
      reason="Reason (recorded in the journal)"
      isReasonNeeded
      act={async (why) => {
        const { link } = await post<{ readonly link: string }>('people/invite', {
          name: name.value.trim(),
          role: role.value,
          why,
        });
        props.onLink(link);
        return `${name.value.trim()} is invited`;
      }}
      onClose={props.onClose}
    >
      <label class="field">
        <span>Name</span>
        <input
          required
          value={name}
          autocomplete="off"
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <label class="field">
        <span>Role</span>
        <select
          value={role}
          onChange={(event) => {
            role.value = event.currentTarget.value;
          }}
        >
          {['viewer', 'operator', 'approver', 'admin'].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    </Dialog>
  );
}
