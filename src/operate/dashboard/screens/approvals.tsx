import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { count, relative, shortTime } from '../data/format.ts';
import { signWithPasskey } from '../data/passkey.ts';
import { post } from '../data/request.ts';
import type { Approval, Done, Page } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Choices } from '../parts/choices.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Verdict } from '../parts/verdict.tsx';
import { ask, route } from '../router.ts';

/** What waits for me, and what changes if I say yes? */
export function Approvals(): JSX.Element {
  const { state = 'open', id: asked } = route.value.query;
  const read = useRead<Page<Approval>>(
    'approvals',
    { state: state === 'all' ? undefined : state },
    { kinds: ['approval', 'override', 'control', 'reload'], everyMs: 5_000 },
  );
  const items = read.data.value?.items ?? [];
  const mine = items.filter((one) => one.state === 'open' && one.may_i === 'yes').length;
  return (
    <>
      <Verdict
        level={read.data.value === undefined ? 'unknown' : mine > 0 ? 'attention' : 'good'}
        sentence={
          read.data.value === undefined
            ? 'Reading the requests…'
            : mine === 0
              ? 'Nothing waits for you.'
              : `${count(mine, 'request waits', 'requests wait')} for you.`
        }
      ></Verdict>
      <Problem of={read.problem} />
      <div class="filters">
        <Choices
          label="Requests to list"
          of={{ open: 'Open', all: 'All' }}
          chosen={state}
          onChoose={(chosen) => {
            ask({ state: chosen, id: undefined });
          }}
        />
      </div>
      {items.map((one) => (
        <Request key={one.id} one={one} isAsked={one.id === asked} onDone={read.reload} />
      ))}
    </>
  );
}

type Answer = 'approve' | 'reject';

function Request(props: {
  readonly one: Approval;
  readonly isAsked: boolean;
  readonly onDone: () => void;
}): JSX.Element {
  const { one, isAsked, onDone } = props;
  const answer = useSignal<Answer | undefined>(undefined);
  const may = one.may_i === 'yes';
  return (
    <Panel
      title={one.asks}
      class={isAsked ? 'is-asked' : ''}
      aside={
        <>
          <Tag>{one.kind}</Tag>
          <Tag level={one.state === 'open' ? 'attention' : one.state === 'approved' ? 'good' : ''}>
            {one.state}
          </Tag>
        </>
      }
    >
      <dl class="facts-list">
        <Fact name="Asked by">{one.proposed_by}</Fact>
        <Fact name="Asked at">{shortTime(one.proposed_at, second.peek())}</Fact>
        <Fact name="Expires">
          {one.expires_at === undefined
            ? '–'
            : `${shortTime(one.expires_at, second.peek())} (${relative(one.expires_at, second.value)})`}
        </Fact>
        {one.why !== undefined && <Fact name="Reason">{one.why}</Fact>}
        {one.needs.map(({ groups, count: number, have }) => (
          <Fact key={groups.join()} name={`Needs ${number} of ${groups.join(', ')}`}>
            {have.length} of {number}
            {have.length > 0 && `: ${have.join(', ')}`}
          </Fact>
        ))}
      </dl>
      <Difference of={one.difference} />
      <p class="hash muted">
        What you approve is exactly this: <code>{one.hash}</code>
      </p>
      {one.state === 'open' && (
        <div class="answers">
          <button
            type="button"
            class="button primary"
            disabled={!may}
            onClick={() => {
              answer.value = 'approve';
            }}
          >
            Approve…
          </button>
          <button
            type="button"
            class="button"
            disabled={!may}
            onClick={() => {
              answer.value = 'reject';
            }}
          >
            Reject…
          </button>
          {!may && <span class="muted">You may not: {one.may_i.replace(/^no:\s*/u, '')}</span>}
        </div>
      )}
      {answer.value !== undefined && (
        <Decide
          one={one}
          what={answer.value}
          onClose={() => {
            answer.value = undefined;
            onDone();
          }}
        />
      )}
    </Panel>
  );
}

/** What changes, a line each, in the words of the desk. */
function Difference({ of }: { readonly of: Approval['difference'] }): JSX.Element | null {
  if (of === undefined || of.length === 0) return null;
  return (
    <pre class="diff" tabIndex={0}>
      {of.map((line, n) => (
        <span key={n}>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

function Decide(props: {
  readonly one: Approval;
  readonly what: Answer;
  readonly onClose: () => void;
}): JSX.Element {
  const { one, what, onClose } = props;
  return (
    <Dialog
      title={`${what === 'approve' ? 'Approve' : 'Reject'}: ${one.asks}`}
      confirm={what === 'approve' ? 'Approve' : 'Reject'}
      isDangerous={what === 'approve'}
      reason="Reason (goes into the record)"
      isReasonNeeded
      act={async (why) => {
        const { id, hash } = one;
        const assertion =
          what === 'approve' && one.passkey === 'required' ? await assertionOf(hash) : undefined;
        return (
          (await post<Done>(`approvals/${what}`, { id, hash, why, assertion })).says ??
          `${what}: written down`
        );
      }}
      onClose={onClose}
    >
      <p>
        {what === 'approve'
          ? 'You agree to exactly this request. It stays in the record, with the signature of your passkey where that is required.'
          : 'The request ends. Whoever asked sees who rejected it, and why.'}
      </p>
    </Dialog>
  );
}

/** The signature of a passkey over exactly this request: its hash is the challenge. */
async function assertionOf(hash: string): Promise<unknown> {
  const bytes = hash.match(/../gu)?.map((hex) => Number.parseInt(hex, 16)) ?? [];
  const challenge = btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  const { id, response } = await signWithPasskey({ challenge, userVerification: 'required' });
  return {
    credential_id: id,
    authenticator_data: response.authenticatorData,
    client_data_json: response.clientDataJSON,
    signature: response.signature,
  };
}
