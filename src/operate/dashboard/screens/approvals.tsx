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

/** Which requests need my decision, and what changes if I approve? */
export function Approvals(): JSX.Element {
  const { state = 'open', id: asked } = route.value.query;
  const read = useRead<Page<Approval>>(
    'approvals',
    { state: state === 'all' ? undefined : state },
    { kinds: ['approval', 'control', 'reload'], everyMs: 5_000 },
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
              ? 'No request is waiting for your approval.'
              : `${count(mine, 'request is', 'requests are')} waiting for your approval.`
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
        {one.state === 'open' && one.expires_at !== undefined && (
          <Fact name="Expires">
            {shortTime(one.expires_at, second.peek())} ({relative(one.expires_at, second.value)})
          </Fact>
        )}
        {one.why !== undefined && <Fact name="Reason">{one.why}</Fact>}
        <Fact name="Approved by">
          {one.approved_by.length} of {one.count}
          {one.approved_by.length > 0 && `: ${one.approved_by.join(', ')}`}
        </Fact>
        {one.ended_by !== undefined && (
          <Fact name="Ended by">
            {one.ended_by}: {one.ended_why}
          </Fact>
        )}
      </dl>
      <Difference of={one.difference} />
      <p class="hash muted">
        What you approve is exactly this: <code>{one.hash}</code>
      </p>
      <Answers
        one={one}
        onChoose={(chosen) => {
          answer.value = chosen;
        }}
      />
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

/** The actions on the request that the desk allows this person, and why other actions are not allowed. */
function Answers(props: {
  readonly one: Approval;
  readonly onChoose: (answer: Answer) => void;
}): JSX.Element | null {
  // The desk decides again when the command arrives.
  const { state, may_i: approve, may_reject: reject } = props.one;
  const mayReject = reject === 'yes';
  if (state !== 'open' && !mayReject) return null;
  const mayApprove = approve === 'yes';
  const button = (answer: Answer, isPrimary = false): JSX.Element => (
    <button
      type="button"
      class={isPrimary ? 'button primary' : 'button'}
      onClick={() => {
        props.onChoose(answer);
      }}
    >
      {words[answer].verb}…
    </button>
  );
  return (
    <div class="answers">
      {mayApprove && button('approve', true)}
      {mayReject && button('reject')}
      {state === 'open' && !mayApprove && (
        <span class="muted">You may not approve it: {approve.replace(/^no:\s*/u, '')}.</span>
      )}
    </div>
  );
}

const words = {
  approve: {
    verb: 'Approve',
    means:
      'You agree to exactly this request. It stays in the record, with the signature of your passkey where that is required.',
  },
  reject: { verb: 'Reject', means: 'The request ends. Whoever asked sees who rejected it, and why.' },
} as const;

/** The changes, one line each, in the desk's words. */
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
      title={`${words[what].verb}: ${one.asks}`}
      confirm={words[what].verb}
      isDangerous={what === 'approve'}
      reason="Reason (recorded in the journal)"
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
      <p>{words[what].means}</p>
    </Dialog>
  );
}

/** The passkey's signature over exactly this request, whose hash is the challenge. */
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
