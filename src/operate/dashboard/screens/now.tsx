import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { shareOf } from '../data/amounts.ts';
import { approvalsWaiting } from '../data/approvals-waiting.ts';
import { now, second } from '../data/clock.ts';
import { clockTime, count, grouped, plain, relative, shortTime, words } from '../data/format.ts';
import { post } from '../data/request.ts';
import { adviceOf, situationOf } from '../data/situation.ts';
import type { Alert, Done, LastFill, Page, Status } from '../data/shapes.ts';
import { status, statusAt } from '../data/store.ts';
import { followStrategies, strategiesProblem, strategyIds, strategyOf } from '../data/strategies.ts';
import { connection, heardAt } from '../data/stream.ts';
import { useRead } from '../data/use-read.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Bar, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { Verdict } from '../parts/verdict.tsx';
import { Marked } from '../parts/marked.tsx';
import { linkTo, route } from '../router.ts';
import { mayAct } from '../shell.tsx';

const DAY_MS = 86_400_000;

/** Is everything all right, and if not, what is the one action? */
export function Now(): JSX.Element {
  useEffect(followStrategies, []);
  const since = useSignal(new Date(second.peek() - DAY_MS).toISOString());
  const read = useRead<Page<Alert>>(
    'alerts',
    { since: since.value, limit: 100 },
    { kinds: ['alert', 'control'] },
  );
  const open = useComputed(() => openAlerts(status.value, read.data.value?.items ?? []));
  return (
    <>
      <LinkedAlert />
      <State open={open.value} />
      <div class="columns">
        <Strategies />
        <div class="stack">
          <Alerts open={open.value} recent={read.data.value?.items ?? []} />
          <Fills />
          <Holdings />
        </div>
      </div>
    </>
  );
}

/** The alert that a message links to: what happened, whether it still applies, what to do, and a link to its cause. */
function LinkedAlert(): JSX.Element | null {
  const seq = Number(route.value.query['alert']);
  const isAsked = Number.isSafeInteger(seq) && seq > 0;
  const read = useRead<Page<Alert>>(
    isAsked ? 'alerts' : undefined,
    { after: seq - 1, limit: 1 },
    { kinds: ['alert', 'control', 'resolved', 'fill', 'balances'], everyMs: 5_000 },
  );
  if (!isAsked) return null;
  const found = read.data.value?.items.find((one) => one.seq === seq);
  const { client_order_id: order, strategy } = found?.facts ?? {};
  return (
    <Panel
      title="The alert of the message"
      aside={found === undefined ? '' : found.is_open === true ? 'still open' : 'it is no longer active'}
      class="alerts"
    >
      <Problem of={read.problem} />
      {found === undefined ? (
        <p class="none">{read.data.value === undefined ? 'Reading…' : `Record ${seq} is no alert.`}</p>
      ) : (
        <>
          <ul class="alert-list">
            <AlertItem one={found} isOpen />
          </ul>
          <p class="ways">
            {typeof order === 'string' && found.is_open === true && (
              <a class="button primary" href={linkTo('doubts', { id: order })}>
                Open the doubt
              </a>
            )}
            {typeof strategy === 'string' && (
              <a class="button" href={linkTo('why', { strategy, at: found.at })}>
                What {strategy} did
              </a>
            )}
            <a class="button" href={linkTo('why', { at: found.at })}>
              What happened around it
            </a>
            <a class="button" href={linkTo('record', { seq: String(seq) })}>
              Record
            </a>
          </p>
        </>
      )}
    </Panel>
  );
}

/** The active alerts of the status, with the actions from the list of alerts. */
function openAlerts(known: Status | undefined, recent: readonly Alert[]): readonly Alert[] {
  return (known?.open_alerts ?? []).map((one) => ({
    ...recent.find(({ alert, at }) => alert === one.alert && at === one.at),
    ...recent.find(({ alert }) => alert === one.alert),
    ...one,
  }));
}

function State({ open }: { readonly open: readonly Alert[] }): JSX.Element {
  const at = second.value;
  const known = status.value;
  const heard = Math.max(statusAt.value, heardAt.value ?? 0);
  const situation = situationOf({
    status: known,
    isLost: connection.value === 'lost',
    silenceS: at > 0 ? (now() - heard) / 1_000 : 0,
    alerts: open,
    approvals: approvalsWaiting.value,
  });
  const { level, sentence, reasons, action } = situation;
  const running = strategyIds.value.length;
  const next = nextOf();
  return (
    <Verdict level={level} sentence={sentence} commands={<Commands known={known} />}>
      {level === 'good' && (
        <p class="sub">
          {count(running, 'strategy', 'strategies')}
          {next === undefined ? '' : `; the next slice is due ${clockTime(next)} UTC (${relative(next, at)})`}
          .
        </p>
      )}
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.slice(0, REASONS_SHOWN).map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
          {reasons.length > REASONS_SHOWN && <li>and {reasons.length - REASONS_SHOWN} more, listed below</li>}
        </ul>
      )}
      {action !== undefined && (
        <p class="action">
          <strong>Do this:</strong> <Marked text={action.words} />{' '}
          {action.href !== undefined && (
            <a class="button primary small" href={action.href}>
              Open
            </a>
          )}
          {action.runbook !== undefined && <Runbook of={action.runbook} />}
        </p>
      )}
    </Verdict>
  );
}

const REASONS_SHOWN = 4;

/** A page of the runbook, as a link if it is a URL. */
const Runbook = ({ of }: { readonly of: string }): JSX.Element =>
  /^https?:\/\//u.test(of) ? (
    <a href={of} target="_blank" rel="noreferrer">
      Runbook
    </a>
  ) : (
    <code>{of}</code>
  );

function nextOf(): string | undefined {
  let next: string | undefined;
  for (const id of strategyIds.value) {
    const at = strategyOf(id)?.value.next_at;
    if (at !== undefined && (next === undefined || at < next)) next = at;
  }
  return next;
}

type Command = 'pause' | 'resume' | 'rearm';

/** The commands for the current state of the desk. Each asks for confirmation. */
function Commands({ known }: { readonly known: Status | undefined }): JSX.Element | null {
  const asked = useSignal<Command | undefined>(undefined);
  if (known === undefined || !mayAct()) return null;
  const offered: readonly Command[] =
    known.state === 'halted' ? ['rearm'] : known.state === 'active' ? ['pause'] : ['resume'];
  const titles = { pause: 'Pause', resume: 'Resume', rearm: 'Re-arm' };
  const tells = {
    pause: 'No new slice starts until somebody resumes the desk. Orders in flight finish normally.',
    resume: 'Each strategy continues with its remainder, as its catch-up rule says.',
    rearm: 'The desk may trade again. Make sure that the cause of the halt is gone.',
  };
  const what = asked.value;
  return (
    <div class="commands">
      {offered.map((one) => (
        <button
          type="button"
          class="button"
          key={one}
          onClick={() => {
            asked.value = one;
          }}
        >
          {titles[one]}
        </button>
      ))}
      {what !== undefined && (
        <Dialog
          title={`${titles[what]} ${known.desk}?`}
          confirm={titles[what]}
          isDangerous={what === 'rearm'}
          reason="Reason (recorded in the journal)"
          isReasonNeeded
          act={async (why) => {
            const body = what === 'rearm' ? { why, confirm: known.desk } : { why };
            return (await post<Done>(what, body)).says ?? `${titles[what]}: done`;
          }}
          onClose={() => {
            asked.value = undefined;
          }}
        >
          <p>{tells[what]}</p>
        </Dialog>
      )}
    </div>
  );
}

function Strategies(): JSX.Element {
  return (
    <Panel title="Strategies" aside={count(strategyIds.value.length, 'strategy', 'strategies')}>
      <Problem of={strategiesProblem} />
      <Rows
        label="Strategies"
        rows={strategyIds.value}
        keyOf={(id) => id}
        empty="No strategy is configured."
        height={16}
        columns={[
          {
            title: 'Strategy',
            kind: 'wide',
            cell: (id) => (
              <>
                <a href={linkTo('slices', { strategy: id })}>{id}</a> <Kind id={id} />
              </>
            ),
          },
          { title: 'Traded', kind: 'number', cell: (id) => <TradedCell id={id} /> },
          { title: 'Of', kind: 'number', isExtra: true, cell: (id) => <OfCell id={id} /> },
          { title: 'Done', cell: (id) => <DoneBar id={id} /> },
          { title: 'Slices', kind: 'number', isExtra: true, cell: (id) => <SlicesCell id={id} /> },
          { title: 'Next', kind: 'time', cell: (id) => <NextCell id={id} /> },
          { title: 'Last reason', isExtra: true, cell: (id) => <ReasonCell id={id} /> },
        ]}
      />
    </Panel>
  );
}

interface OfStrategy {
  readonly id: string;
}
const Kind = ({ id }: OfStrategy): JSX.Element => (
  <span class="muted extra-inline">{strategyOf(id)?.value.kind}</span>
);
const TradedCell = ({ id }: OfStrategy): JSX.Element => {
  const traded = strategyOf(id)?.value.traded;
  return <>{traded === undefined ? '–' : `${grouped(traded.amount)} ${traded.currency}`}</>;
};
const OfCell = ({ id }: OfStrategy): JSX.Element => <>{grouped(strategyOf(id)?.value.traded?.of)}</>;
const SlicesCell = ({ id }: OfStrategy): JSX.Element => {
  const one = strategyOf(id)?.value;
  const total = one?.slices_total ?? 0;
  return (
    <>
      {grouped(one?.slices_filled)}
      {total > 0 && <span class="muted"> of {grouped(total)}</span>}
    </>
  );
};
const DoneBar = ({ id }: OfStrategy): JSX.Element | null => {
  const one = strategyOf(id)?.value;
  if (one?.traded === undefined) return null;
  return <Bar share={shareOf(one.traded.amount, one.traded.of)} label={`${id}: share traded`} />;
};
const NextCell = ({ id }: OfStrategy): JSX.Element => {
  const one = strategyOf(id)?.value;
  if (one?.waits_for_approval !== undefined)
    return (
      <a href={linkTo('approvals')}>
        <Tag level="attention">waits for approval</Tag>
      </a>
    );
  if (one?.state === 'finished') return <Tag>finished</Tag>;
  return <>{one?.next_at === undefined ? words(one?.state) : shortTime(one.next_at, second.peek())}</>;
};
const ReasonCell = ({ id }: OfStrategy): JSX.Element => {
  const reason = strategyOf(id)?.value.last_reason;
  return <>{reason === undefined ? '' : <a href={linkTo('why', { strategy: id })}>{words(reason)}</a>}</>;
};

function Alerts(props: { readonly open: readonly Alert[]; readonly recent: readonly Alert[] }): JSX.Element {
  const { open, recent } = props;
  const closed = recent
    .filter((one) => !open.some(({ alert, at }) => alert === one.alert && at === one.at))
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, CLOSED_SHOWN);
  return (
    <Panel title="Alerts" aside={`${open.length} open`} class="alerts">
      {open.length === 0 && <p class="none">No open alert.</p>}
      <ul class="alert-list">
        {open.slice(0, OPEN_SHOWN).map((one) => (
          <AlertItem key={`${one.alert}${one.at}`} one={one} isOpen />
        ))}
      </ul>
      {closed.length > 0 && (
        <details>
          <summary>Last day, no longer open</summary>
          <ul class="alert-list">
            {closed.map((one) => (
              <AlertItem key={`${one.alert}${one.at}${one.seq}`} one={one} />
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

const OPEN_SHOWN = 20;
const CLOSED_SHOWN = 20;
const levels = { critical: 'bad', warning: 'attention', info: '' } as const;

function AlertItem({ one, isOpen = false }: { readonly one: Alert; readonly isOpen?: boolean }): JSX.Element {
  const does = adviceOf(one);
  return (
    <li>
      <p>
        <Tag level={levels[one.severity]}>{one.severity}</Tag> <strong>{one.says ?? words(one.alert)}</strong>{' '}
        <time class="muted figures">{shortTime(one.at, second.peek())}</time>
      </p>
      {isOpen && does !== undefined && (
        <p>
          <Marked text={does} />
        </p>
      )}
      <p class="muted facts">
        {Object.entries(one.facts)
          .slice(0, FACTS_SHOWN)
          .map(([name, value]) => `${words(name)} ${plain(value)}`)
          .join(' · ')}{' '}
        {one.runbook !== undefined && <Runbook of={one.runbook} />}
      </p>
    </li>
  );
}

const FACTS_SHOWN = 6;

const Fills = (): JSX.Element => (
  <Panel title="Last fills" aside={`${grouped(status.value?.fills ?? 0)} in all`}>
    <Rows<LastFill>
      label="Last fills"
      rows={(status.value?.last_fills ?? []).toReversed()}
      keyOf={(fill) => `${fill.at}${fill.strategy}${fill.quantity}${fill.price}`}
      empty={status.value === undefined ? 'Reading…' : 'Nothing has filled yet.'}
      height={5}
      columns={[
        { title: 'At', kind: 'time', cell: ({ at }) => shortTime(at, second.peek()) },
        { title: 'Side', cell: ({ side }) => <span class={`side ${side}`}>{side}</span> },
        {
          title: 'Quantity',
          kind: 'number',
          cell: ({ quantity, base }) => `${grouped(quantity)} ${base}`,
        },
        { title: 'Price', kind: 'number', cell: ({ price }) => grouped(price) },
      ]}
    />
  </Panel>
);

function Holdings(): JSX.Element {
  const holdings = Object.entries(status.value?.holdings ?? {});
  return (
    <Panel title="Account" aside={accountAge()}>
      <dl class="holdings">
        {holdings.map(([currency, amount]) => (
          <div key={currency}>
            <dt>{currency}</dt>
            <dd class="figures">{grouped(amount)}</dd>
          </div>
        ))}
        {(status.value?.prices ?? []).slice(0, PRICES_SHOWN).map(({ pair, mid, age_s: age }) => (
          <div key={pair}>
            <dt>{pair}</dt>
            <dd class="figures">
              {mid === undefined ? <Tag level="attention">no price</Tag> : grouped(mid)}
            </dd>
            {age !== undefined && age > OLD_PRICE_S && <dd class="muted">{age} s old</dd>}
          </div>
        ))}
      </dl>
    </Panel>
  );
}

const PRICES_SHOWN = 8;
const OLD_PRICE_S = 5;

function accountAge(): string {
  const age = status.value?.account_read_age_s;
  return age === undefined ? 'not read yet' : `read ${Math.round(age)} s ago`;
}
