import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { clockTime, count, duration, grouped, relative } from '../data/format.ts';
import { post } from '../data/request.ts';
import type { Done, Doubt, Row } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Fact, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Verdict } from '../parts/verdict.tsx';
import { linkTo, route } from '../router.ts';
import { mayAct } from '../shell.tsx';

/** What is unknown, what does it reserve, and when can it be proven? */
export function Doubts(): JSX.Element {
  const read = useRead<{ readonly doubts: readonly Doubt[] }>(
    'doubts',
    {},
    { kinds: ['attempt', 'fill', 'resolved', 'balances'], everyMs: 5_000 },
  );
  const doubts = read.data.value?.doubts ?? [];
  return (
    <>
      <Verdict
        level={read.data.value === undefined ? 'unknown' : doubts.length === 0 ? 'good' : 'bad'}
        sentence={
          read.data.value === undefined
            ? 'Reading the doubts…'
            : doubts.length === 0
              ? 'Nothing is in doubt. The outcome of every order is known.'
              : `${count(doubts.length, 'order has', 'orders have')} an unknown outcome.`
        }
      >
        {doubts.length > 0 && (
          <p>
            Each of these orders may have traded, and counts at its worst case until the account proves what
            happened. The desk reads the account automatically; resolve a doubt only with evidence from the
            venue.
          </p>
        )}
      </Verdict>
      <Problem of={read.problem} />
      {doubts.map((doubt) => (
        <One
          key={doubt.client_order_id}
          doubt={doubt}
          isAsked={route.value.query['id'] === doubt.client_order_id}
        />
      ))}
    </>
  );
}

function One({ doubt, isAsked }: { readonly doubt: Doubt; readonly isAsked: boolean }): JSX.Element {
  const isSettling = useSignal(false);
  const isAttributing = useSignal(false);
  const at = second.value;
  const { earliest_answer_at: earliest, since, reserves, strategy, unattributed: rows = [] } = doubt;
  return (
    <Panel
      title={`${doubt.side ?? ''} ${doubt.size ?? ''} of ${doubt.pair ?? ''}`}
      class={isAsked ? 'is-asked' : ''}
      aside={
        <>
          <Tag level="bad">unknown</Tag>
          <a href={linkTo('why', { strategy, at: since })}>Why</a>
          {mayAct() && rows.length > 0 && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                isAttributing.value = true;
              }}
            >
              Whose rows…
            </button>
          )}
          {mayAct() && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                isSettling.value = true;
              }}
            >
              Resolve…
            </button>
          )}
        </>
      }
    >
      <dl class="facts-list">
        <Fact name="Why it is unknown">{doubt.why}</Fact>
        <Fact name="Since">
          {clockTime(since)} UTC ({duration((at - Date.parse(since ?? '')) / 1_000)})
        </Fact>
        <Fact name="Earliest proof that it did not trade">
          {earliest === undefined
            ? 'none: it certainly traded'
            : `${clockTime(earliest)} UTC (${relative(earliest, at)})`}
        </Fact>
        <Fact name="Reads of the account still needed">{doubt.clean_reads_left ?? '–'}</Fact>
        <Fact name="Reserved in the limits">{doubt.notional}</Fact>
        <Fact name="Reserved of the balance">
          {reserves === undefined ? '–' : `${grouped(reserves.amount)} ${reserves.currency}`}
        </Fact>
        <Fact name="Strategy">
          {strategy !== undefined && (
            <a href={linkTo('slices', { strategy })}>
              {strategy}, slice {doubt.slice}, attempt {doubt.attempt}
            </a>
          )}
        </Fact>
        <Fact name="Client order id">
          <code>{doubt.client_order_id}</code>
        </Fact>
        <Fact name="Quote id">
          <code>{doubt.quote_id ?? '–'}</code>
        </Fact>
      </dl>
      {rows.length > 0 && <Rows rows={rows} />}
      {isAttributing.value && (
        <Attribute
          doubt={doubt}
          rows={rows}
          onClose={() => {
            isAttributing.value = false;
          }}
        />
      )}
      {isSettling.value && (
        <Settle
          doubt={doubt}
          onClose={() => {
            isSettling.value = false;
          }}
        />
      )}
    </Panel>
  );
}

const rowText = ({ action, amount, currency, order_id: order, client_order_id: client }: Row): string =>
  `${action} ${grouped(amount)} ${currency}, ${order === undefined ? 'no order id' : `order ${order}`}, ${client === undefined ? 'no client id' : `client id ${client}`}`;

const Rows = ({ rows }: { readonly rows: readonly Row[] }): JSX.Element => (
  <>
    <p>
      No id ties these rows of the account to an order. The doubt stays open until a person says whose they
      are:
    </p>
    <ul>
      {rows.map((row) => (
        <li key={row.id}>
          <code>{row.id}</code>: {rowText(row)}
          {row.equals_quote === true && <Tag>equals the quote</Tag>}
          {row.unreadable !== undefined && <Tag level="bad">unreadable: {row.unreadable}</Tag>}
        </li>
      ))}
    </ul>
  </>
);

function Attribute(props: {
  readonly doubt: Doubt;
  readonly rows: readonly Row[];
  readonly onClose: () => void;
}): JSX.Element {
  const verdict = useSignal<'ours' | 'not_ours' | undefined>(undefined);
  const chosen = useSignal<ReadonlySet<string>>(
    new Set(props.rows.length === 1 ? [props.rows[0]?.id ?? ''] : []),
  );
  return (
    <Dialog
      title="Whose rows are these?"
      confirm="Record it"
      isDangerous
      reason="Evidence: what the venue confirmed, and who confirmed it"
      isReasonNeeded
      act={async (evidence) => {
        if (verdict.value === undefined) throw new Error('choose an answer');
        if (chosen.value.size === 0) throw new Error('choose at least one row');
        const answer = await post<Done>('doubts/resolve', {
          client_order_id: props.doubt.client_order_id,
          verdict: verdict.value,
          rows: [...chosen.value],
          evidence,
        });
        return answer.says ?? 'written down';
      }}
      onClose={props.onClose}
    >
      <p>
        A wrong answer executes an order twice or hides a trade. Ask the venue to which order each row
        belongs.
      </p>
      <fieldset class="choices-list">
        <legend>Rows</legend>
        {props.rows.map((row) => (
          <label class="check" key={row.id}>
            <input
              type="checkbox"
              checked={chosen.value.has(row.id)}
              onChange={() => {
                chosen.value = chosen.value.symmetricDifference(new Set([row.id]));
              }}
            />
            {row.id}: {rowText(row)}
            {row.equals_quote === true && ', equals the quote'}
          </label>
        ))}
      </fieldset>
      <fieldset class="choices-list">
        <legend class="sr">Answer</legend>
        {ANSWERS.map(([answer, words]) => (
          <label class="check" key={answer}>
            <input
              type="radio"
              name="answer"
              required
              checked={verdict.value === answer}
              onChange={() => {
                verdict.value = answer;
              }}
            />
            {words}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}

const ANSWERS = [
  ['ours', 'They belong to this order: they become its trade'],
  ['not_ours', 'They belong to no order of this desk: they no longer hold the doubt open'],
] as const;

const FIGURES = [
  ['order_id', 'Order id of the venue'],
  ['quantity', 'Quantity, base currency'],
  ['amount', 'Amount, quote currency'],
  ['fees', 'Fees, quote currency (0 if none)'],
] as const;

function Settle({ doubt, onClose }: { readonly doubt: Doubt; readonly onClose: () => void }): JSX.Element {
  const verdict = useSignal<'not_executed' | 'filled'>('not_executed');
  const figures = useSignal<Readonly<Record<string, string>>>({});
  return (
    <Dialog
      title="What became of this order?"
      confirm="Record it"
      isDangerous
      reason="Evidence: where the venue shows it"
      isReasonNeeded
      act={async (evidence) => {
        const given = Object.entries(figures.value).filter(([, value]) => value.trim() !== '');
        const answer = await post<Done>('doubts/resolve', {
          client_order_id: doubt.client_order_id,
          verdict: verdict.value,
          evidence,
          ...(verdict.value === 'filled' ? Object.fromEntries(given) : {}),
        });
        return answer.says ?? 'written down';
      }}
      onClose={onClose}
    >
      <p>
        A wrong verdict executes an order twice or hides a trade. Resolve the doubt only with evidence that
        the venue shows or states in writing; otherwise let the desk prove the outcome.
      </p>
      <fieldset class="choices-list">
        <legend class="sr">Verdict</legend>
        <label class="check">
          <input
            type="radio"
            name="verdict"
            checked={verdict.value === 'not_executed'}
            onChange={() => {
              verdict.value = 'not_executed';
            }}
          />
          It did not execute: its reserve is freed and the slice may trade again
        </label>
        <label class="check">
          <input
            type="radio"
            name="verdict"
            checked={verdict.value === 'filled'}
            onChange={() => {
              verdict.value = 'filled';
            }}
          />
          It was filled: figures from the statement of the venue, or none to let the account show them
        </label>
      </fieldset>
      {verdict.value === 'filled' &&
        FIGURES.map(([name, title]) => (
          <label class="field" key={name}>
            <span>{title}</span>
            <input
              value={figures.value[name] ?? ''}
              autocomplete="off"
              onInput={(event) => {
                figures.value = { ...figures.value, [name]: event.currentTarget.value };
              }}
            />
          </label>
        ))}
    </Dialog>
  );
}
