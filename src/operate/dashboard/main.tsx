import { render } from 'preact';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { RequestError, isSignedOut, me, problemOf, readMe } from './data/request.ts';
import { start, statusProblem } from './data/store.ts';
import { route } from './router.ts';
import type { ScreenId } from './router.ts';
import { Approvals } from './screens/approvals.tsx';
import { Cost } from './screens/cost.tsx';
import { Doubts } from './screens/doubts.tsx';
import { Limits } from './screens/limits.tsx';
import { Now } from './screens/now.tsx';
import { People } from './screens/people.tsx';
import { Plan } from './screens/plan.tsx';
import { Record } from './screens/record.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { Slices } from './screens/slices.tsx';
import { Why } from './screens/why.tsx';
import { Shell, mayAct } from './shell.tsx';
import { listenToKeys } from './shortcuts.ts';

const views: Readonly<Record<ScreenId, () => JSX.Element>> = {
  now: Now,
  slices: Slices,
  why: Why,
  approvals: Approvals,
  limits: Limits,
  doubts: Doubts,
  plan: Plan,
  cost: Cost,
  record: Record,
  people: People,
};

/** The screens, once the desk has identified the viewer; until then the sign-in. */
function App(): JSX.Element {
  const { screen } = route.value;
  useEffect(() => {
    document.title = `${document.querySelector('main')?.getAttribute('aria-label') ?? 'Sign in'} · Tranche`;
  }, [screen]);
  if (isSignedOut.value) return <SignIn />;
  if (me.value === undefined) return <p class="waiting">{statusProblem.value ?? 'Checking your sign-in…'}</p>;
  const View = views[screen];
  return (
    <Shell>
      <View key={screen} />
    </Shell>
  );
}

const RETRY_MS = 2_000;

async function begin(): Promise<void> {
  try {
    await readMe();
    await start();
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) return;
    statusProblem.value = `${problemOf(error)}; trying again`;
    setTimeout(() => void begin(), RETRY_MS);
  }
}

const place = document.querySelector('#app');
if (place !== null) render(<App />, place);
listenToKeys(mayAct);
// The sign-in screen handles a link that signs in.
if (location.pathname === '/') void begin();
else isSignedOut.value = true;
