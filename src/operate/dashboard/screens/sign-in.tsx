import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { makePasskey, signWithPasskey } from '../data/passkey.ts';
import type { ForEnrolment, ForSignIn } from '../data/passkey.ts';
import { post, problemOf } from '../data/request.ts';

const given = new URLSearchParams(location.search);

/** How this browser signs in: with a link from this machine, a passkey, or an invitation. */
export function SignIn(): JSX.Element {
  const invitation = given.get('invitation');
  return (
    <main class="sign-in" aria-label="Sign in">
      <p class="brand">
        <span class="mark" aria-hidden="true" /> <span class="name">Tranche</span>
      </p>
      {invitation === null ? <Enter /> : <Enrol invitation={invitation} />}
    </main>
  );
}

/** The session exists. Reloads the page without the secret in its URL. */
const open = (): void => {
  if (location.pathname === '/') location.reload();
  else location.replace(`/${location.hash}`);
};

function Enter(): JSX.Element {
  const link = given.get('link');
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(link !== null);
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    isBusy.value = true;
    problem.value = undefined;
    try {
      await act();
      open();
    } catch (error) {
      problem.value = problemOf(error);
      isBusy.value = false;
    }
  };
  useEffect(() => {
    if (link !== null) void attempt(async () => await post('sign-in/link', { link }));
  }, []);
  return (
    <>
      <h1>Sign in</h1>
      <p class="problem" role="alert">
        {problem}
      </p>
      <button
        type="button"
        class="button primary"
        disabled={isBusy}
        onClick={() => {
          void attempt(async () => {
            const { options, id } = await post<PasskeyOptions<ForSignIn>>('sign-in/passkey/options', {});
            await post('sign-in/passkey', {
              id,
              response: await signWithPasskey(options),
            });
          });
        }}
      >
        {isBusy.value ? 'Signing in…' : 'Sign in with a passkey'}
      </button>
      <p class="muted">
        On the machine of the desk, <code>tranche run</code> prints a link that signs in once. People with a
        passkey of this desk use the button.
      </p>
    </>
  );
}

interface PasskeyOptions<T> {
  readonly options: T;
  readonly id: string;
  readonly name?: string;
  readonly role?: string;
}

function Enrol({ invitation }: { readonly invitation: string }): JSX.Element {
  const asked = useSignal<PasskeyOptions<ForEnrolment> | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const ask = async (): Promise<void> => {
    try {
      asked.value = await post<PasskeyOptions<ForEnrolment>>('enrol/options', { invitation });
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  useEffect(() => void ask(), []);
  const enrol = async (): Promise<void> => {
    if (asked.value === undefined) return;
    const { options, id } = asked.value;
    isBusy.value = true;
    problem.value = undefined;
    try {
      await post('enrol', { id, response: await makePasskey(options) });
      open();
    } catch (error) {
      problem.value = problemOf(error);
      isBusy.value = false;
      // Options can be used only once.
      await ask();
    }
  };
  return (
    <>
      <h1>Welcome{asked.value?.name === undefined ? '' : `, ${asked.value.name}`}</h1>
      <p>
        {asked.value?.role === undefined
          ? 'Reading the invitation…'
          : `You are invited as ${asked.value.role}. From now on, a passkey of this device proves your identity.`}
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      <button
        type="button"
        class="button primary"
        disabled={asked.value === undefined || isBusy.value}
        onClick={() => void enrol()}
      >
        Make a passkey
      </button>
    </>
  );
}
