import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { approvalsWaiting, followApprovals } from './data/approvals-waiting.ts';
import { now, second } from './data/clock.ts';
import { ZONE, clockTime, duration } from './data/format.ts';
import { me, post } from './data/request.ts';
import type { Done } from './data/shapes.ts';
import { status, statusAt } from './data/store.ts';
import { connection, dataAge, heardAt } from './data/stream.ts';
import { Dialog } from './parts/dialog.tsx';
import { Icon } from './parts/icons.tsx';
import { Toast } from './parts/toast.tsx';
import { linkTo, route, screens } from './router.ts';
import { asksHalt, asksKeys } from './shortcuts.ts';

/** The frame around every screen. */
export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const screen = screens.find(({ id }) => id === route.value.screen);
  useEffect(() => followApprovals(), []);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('#main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header />
      <Nav />
      <main id="main" tabIndex={-1} aria-label={screen?.title ?? ''}>
        <Lost />
        {children}
      </main>
      <Toast />
      {asksHalt.value && <HaltDialog />}
      {asksKeys.value && <KeysDialog />}
    </div>
  );
}

const isLive = (): boolean => (status.value?.mode ?? me.value?.mode) === 'live';
export const mayAct = (): boolean => me.value !== undefined && me.value.role !== 'viewer';

function Header(): JSX.Element {
  const desk = status.value?.desk ?? me.value?.desk ?? '';
  const mode = status.value?.mode ?? me.value?.mode ?? '';
  const state = status.value?.state;
  const isHalted = state === 'halted';
  return (
    <header>
      <a class="brand" href={linkTo('now')} aria-label="Tranche: now">
        <span class="mark" aria-hidden="true" />
        <span class="name">Tranche</span>
      </a>
      <span class="desk" title="Desk">
        {desk}
      </span>
      <span class={`mode ${isLive() ? 'live' : 'not-live'}`}>
        <span class="sr">Mode </span>
        {mode.replaceAll('_', ' ')}
      </span>
      {state !== undefined && <span class={`state ${state}`}>{state}</span>}
      <span class="spring" />
      <Age />
      <span class="clock" title={`All times are ${ZONE}`}>
        <span class="figures">{clockTime(second.value)}</span> {ZONE}
      </span>
      <button
        type="button"
        class="button danger halt"
        disabled={isHalted || !mayAct()}
        title={
          isHalted ? 'The desk is halted' : mayAct() ? 'Halt the desk (h h)' : 'Requires the operator role'
        }
        onClick={() => {
          asksHalt.value = true;
        }}
      >
        <Icon name="halt" />
        {isHalted ? 'Halted' : 'Halt'}
      </button>
    </header>
  );
}

/** Age of the displayed data: the time since the desk's last message, and since the desk read its account. */
function Age(): JSX.Element {
  const at = second.value;
  const silence = at > 0 ? (now() - Math.max(statusAt.value, heardAt.value ?? 0)) / 1_000 : 0;
  const old = dataAge.value;
  const isLost = connection.value === 'lost';
  return (
    <span
      class={`age ${isLost ? 'lost' : ''}`}
      title="Time since the last update from the desk, and since it read its account"
    >
      <span class="dot" aria-hidden="true" />
      <span class="figures">
        {isLost ? 'lost' : 'live'} {duration(silence)}
      </span>
      {old !== undefined && <span class="figures prices">account {duration(old)}</span>}
    </span>
  );
}

const Lost = (): JSX.Element => (
  <div class="banner-place" role="alert">
    {connection.value === 'lost' && (
      <p class="banner">
        <strong>Connection lost.</strong> What you see is as it was at{' '}
        {clockTime(second.value - (now() - Math.max(statusAt.value, heardAt.value ?? 0)))} {ZONE}. The page
        retries automatically; the desk may be trading.
      </p>
    )}
  </div>
);

function Nav(): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <nav aria-label="Screens" class={isOpen.value ? 'is-open' : ''}>
      <ul>
        {screens.map(({ id, title, asks }) => (
          <li key={id} class={id === 'now' || id === 'approvals' ? 'first' : ''}>
            <a
              href={linkTo(id)}
              title={asks}
              aria-current={route.value.screen === id ? 'page' : undefined}
              onClick={() => {
                isOpen.value = false;
              }}
            >
              <Icon name={id} />
              {title}
              <Waiting of={id} />
            </a>
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="more"
        aria-expanded={isOpen}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {isOpen.value ? 'Less' : 'More'}
      </button>
      <div class="nav-foot">
        <p class="who">
          {me.value?.name} <span>{me.value?.role}</span>
        </p>
        <button
          type="button"
          class="link"
          onClick={() => {
            asksKeys.value = true;
          }}
        >
          Keys (?)
        </button>
        {me.value?.via === 'session' && (
          <button
            type="button"
            class="link"
            onClick={() => {
              void post('sign-out', {}).finally(() => {
                location.reload();
              });
            }}
          >
            Sign out
          </button>
        )}
      </div>
    </nav>
  );
}

function Waiting({ of }: { readonly of: string }): JSX.Element | null {
  const doubts = status.value?.open_doubts?.length ?? 0;
  const number = of === 'approvals' ? approvalsWaiting.value : of === 'doubts' ? doubts : 0;
  return number === 0 ? null : <span class="count">{number}</span>;
}

function HaltDialog(): JSX.Element {
  const isKill = useSignal(false);
  return (
    <Dialog
      title={`Halt ${status.value?.desk ?? 'the desk'}?`}
      confirm="Halt now"
      isDangerous
      reason="Reason (optional; recorded in the journal)"
      act={async (typed) => {
        const why = typed === '' ? 'halted from the dashboard' : typed;
        const answer = await post<Done>('halt', {
          why,
          ...(isKill.value ? { kill: true } : {}),
        });
        const known = status.peek();
        // The person and reason of the previous state do not belong to the halt; its time arrives with the next status.
        if (known !== undefined)
          status.value = { ...known, state: 'halted', since: undefined, by: me.value?.name, why };
        return answer.says ?? 'halted';
      }}
      onClose={() => {
        asksHalt.value = false;
      }}
    >
      <p>
        No new order leaves from this moment on. Orders already sent run to their end. Only a person re-arms
        the desk.
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isKill}
          onChange={(event) => {
            isKill.value = event.currentTarget.checked;
          }}
        />
        Also close the way to the venue: this process can send nothing any more and must be started again.
      </label>
    </Dialog>
  );
}

const KeysDialog = (): JSX.Element => (
  <Dialog
    title="Keys"
    confirm="Close"
    act={async () => await Promise.resolve('')}
    onClose={() => {
      asksKeys.value = false;
    }}
  >
    <dl class="keys">
      {screens.map(({ id, title, key }) => (
        <div key={id}>
          <dt>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </dt>
          <dd>{title}</dd>
        </div>
      ))}
      <div>
        <dt>
          <kbd>h</kbd> <kbd>h</kbd>
        </dt>
        <dd>Halt: asks first</dd>
      </div>
      <div>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>This list</dd>
      </div>
    </dl>
  </Dialog>
);
