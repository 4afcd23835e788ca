import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { dateTime, exactTime, grouped, plain, shortTime, words } from '../data/format.ts';
import type { Chain, JournalRecord, Page } from '../data/shapes.ts';
import { records } from '../data/store.ts';
import { useRead } from '../data/use-read.ts';
import { Fact, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { ask, route } from '../router.ts';

const KINDS = [
  'alert', 'approval', 'attempt', 'balances', 'control', 'correction', 'fill', 'intent', 'person', 'process', 'quote', 'reload',
  'resolved', 'settings', 'slice', 'started', 'stopped', 'strategy', 'wake',
]; // prettier-ignore
const PAGE = 200;

/** Who did what, and up to where is the chain verified? */
export function Record(): JSX.Element {
  const { seq = '', kind = '' } = route.value.query;
  const wanted = Number(seq);
  const isPast = wanted > 0;
  const chain = useRead<Chain>('chain', {}, { everyMs: 5_000 });
  const stored = useRead<Page<JournalRecord>>('records', {
    kind,
    limit: PAGE,
    ...(isPast ? { after: Math.max(0, wanted - PAGE / 2) } : { order: 'newest' }),
  });
  const opened = useSignal(wanted);
  const rows = useComputed(() => {
    const read = (stored.data.value?.items ?? []).map(withKind);
    if (isPast) return read;
    const known = new Map(read.map((one) => [one.seq, one]));
    for (const one of records.value)
      if (kind === '' || one.kind === kind) known.set(one.seq, { ...known.get(one.seq), ...one });
    return [...known.values()].toSorted((a, b) => b.seq - a.seq);
  });
  const one = rows.value.find((record) => record.seq === opened.value);
  return (
    <>
      <h1 class="sr">Record</h1>
      <ChainState of={chain.data.value} />
      <Problem of={chain.problem} />
      <div class="filters">
        <label>
          Kind{' '}
          <select
            value={kind}
            onChange={(event) => {
              ask({ kind: event.currentTarget.value });
            }}
          >
            <option value="">all</option>
            {KINDS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Around record{' '}
          <input
            inputMode="numeric"
            size={10}
            value={seq}
            placeholder="newest"
            onChange={(event) => {
              opened.value = Number(event.currentTarget.value);
              ask({ seq: event.currentTarget.value.replaceAll(/\D/gu, '') });
            }}
          />
        </label>
      </div>
      <Panel title={isPast ? `Records around ${grouped(seq)}` : 'Newest records'}>
        <Problem of={stored.problem} />
        <Rows<JournalRecord>
          label="Records"
          rows={rows.value}
          keyOf={(record) => record.seq}
          empty={stored.data.value === undefined ? 'Reading…' : 'No such record.'}
          height={14}
          onOpen={(record) => {
            opened.value = opened.value === record.seq ? 0 : record.seq;
          }}
          isOpen={(record) => record.seq === opened.value}
          columns={[
            {
              title: 'No.',
              kind: 'number',
              cell: ({ seq: number }) => (
                <button type="button" class="link" aria-expanded={number === opened.value}>
                  {grouped(number)}
                </button>
              ),
            },
            { title: 'At', kind: 'time', cell: ({ at }) => shortTime(at, second.peek()) },
            { title: 'Kind', cell: ({ kind: what }) => <Tag>{what}</Tag> },
            { title: 'Who or what', isExtra: true, cell: ({ body }) => whoOf(body) },
            { title: 'Content', kind: 'wide', cell: ({ body }) => contentOf(body) },
          ]}
        />
      </Panel>
      {one !== undefined && (
        <Panel title={`Record ${grouped(one.seq)}`} aside={exactTime(one.at)}>
          {one.hash !== undefined && (
            <p class="hash">
              Hash <code>{one.hash}</code>
            </p>
          )}
          <pre>{JSON.stringify(one.body, null, 2)}</pre>
        </Panel>
      )}
    </>
  );
}

/** In journal pages, only the body names the kind. */
const withKind = (record: JournalRecord): JournalRecord => ({ ...record, kind: plain(record.body['kind']) });

function ChainState({ of }: { readonly of: Chain | undefined }): JSX.Element {
  const isBroken = of?.problem !== undefined;
  return (
    <Panel
      title="Chain of records"
      aside={
        of === undefined ? (
          'Reading…'
        ) : isBroken ? (
          <Tag level="bad">broken</Tag>
        ) : (
          <Tag level="good">holds</Tag>
        )
      }
    >
      {isBroken && <p class="problem">{of.problem}</p>}
      <dl class="facts-list">
        <Fact name="Newest record">{grouped(of?.seq)}</Fact>
        <Fact name="Verified up to">
          {grouped(of?.verified_to)}
          {of?.verified_at !== undefined && ` at ${dateTime(of.verified_at)}`}
        </Fact>
        <Fact name="Hash of the newest record, which covers the whole journal">
          <code>{of?.hash ?? '–'}</code>
        </Fact>
        <Fact name="Head published elsewhere">
          {of?.head === undefined ? 'none' : `${grouped(of.head.seq)} at ${dateTime(of.head.signed_at)}`}
        </Fact>
      </dl>
    </Panel>
  );
}

/** In an intent, `by` is the unit of its size, not a person. */
const whoOf = (body: JournalRecord['body']): string =>
  plain(
    (body['kind'] === 'intent' ? undefined : body['by']) ??
      body['strategy'] ??
      body['alert'] ??
      body['person'] ??
      '',
  );

/** The short values of a record, up to the length of a line. The reason comes first, the others in their order. */
function contentOf(body: JournalRecord['body']): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries({ why: undefined, ...body })) {
    if (
      value === undefined ||
      name === 'kind' ||
      name === 'by' ||
      name === 'strategy' ||
      value === null ||
      typeof value === 'object'
    )
      continue;
    const isTime = typeof value === 'number' && /(?:_at|until)$/u.test(name);
    parts.push(`${words(name)} ${isTime ? dateTime(value) : JSON.stringify(value).replaceAll('"', '')}`);
  }
  return parts.join(' · ').slice(0, LINE_MAX);
}
const LINE_MAX = 240;
