import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { EventStream } from '../../src/operate/events.ts';
import type { EventRow } from '../../src/operate/events.ts';
import { httpServer } from '../venue/servers.ts';

const aRecord = (seq: number): StoredRecord => ({
  seq,
  at: instant(seq),
  body: { kind: seq % 2 === 0 ? 'stopped' : 'process', state: 'running', why: 'w', open_doubts: 0 } as never, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the stream looks at the kind alone
  hash: '',
});
const aRow = (seq: number): EventRow => {
  const { body } = aRecord(seq);
  return { seq, at: new Date(seq).toISOString(), kind: body.kind, body };
};

interface World {
  readonly events: EventStream;
  /** Durable records, which include all published ones. */
  readonly journal: { seq: number };
  write(): void;
}

/** A stream over a journal that returns `piece` records at a time, each read taking one turn of the event loop. */
function aWorld(over: { readonly piece?: number; readonly onLook?: (world: World) => void } = {}): World {
  const { piece = 3, onLook } = over;
  const journal = { seq: 0 };
  const world: World = {
    journal,
    events: new EventStream({
      head: () => journal.seq,
      later: setImmediate,
      async past(after) {
        const rows: EventRow[] = [];
        for (let seq = after + 1; seq <= journal.seq && rows.length < piece; seq++) rows.push(aRow(seq));
        // Records written during a read are not part of its result.
        onLook?.(world);
        await new Promise((resolve) => setImmediate(resolve));
        return rows;
      },
    }),
    write() {
      journal.seq += 1;
      world.events.publish(aRecord(journal.seq));
    },
  };
  return world;
}

interface Heard {
  readonly seqs: () => readonly number[];
  readonly text: () => string;
  readonly response: IncomingMessage;
}

/** Listens over a real socket. */
async function listen(events: EventStream, options: Parameters<EventStream['add']>[1]): Promise<Heard> {
  const url = await httpServer((_request, response) => {
    events.add(response, options);
  });
  onTestFinished(() => {
    events.close();
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false }, resolve).on('error', reject).end();
  });
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  response.on('error', () => undefined);
  return {
    response,
    text: () => text,
    seqs: () => [...text.matchAll(/^data: (?<data>\{"seq":\d+,"at".*)$/gmu)].map(({ groups }) => (JSON.parse(groups?.['data'] ?? '') as EventRow).seq), // prettier-ignore
  };
}

const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('a listener that reconnects to the event stream', () => {
  it.each([0, 1, 7, 19, 20])(
    'receives every record after number %i once, and then new records',
    async (after) => {
      const world = aWorld();
      for (let n = 0; n < 20; n++) world.write();
      const heard = await listen(world.events, { name: 'ann', after });
      await expect.poll(() => heard.seqs()).toEqual(upTo(20, after + 1));
      for (let n = 0; n < 5; n++) world.write();
      await expect.poll(() => heard.seqs()).toEqual(upTo(25, after + 1));
    },
  );

  it('misses and repeats no record while records are written at every step of its connection', async () => {
    let left = 40;
    const world = aWorld({
      onLook(each) {
        if (left > 0) each.write();
        left -= 1;
      },
    });
    for (let n = 0; n < 10; n++) world.write();
    const heard = await listen(world.events, { name: 'ann', after: 0 });
    while (heard.seqs().length < 12) {
      world.write();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let n = 0; n < 10; n++) world.write();
    await expect.poll(() => heard.seqs().length === world.journal.seq && left < 0).toBe(true);
    expect(heard.seqs()).toEqual(upTo(world.journal.seq));
  });

  it('receives unpublished records, read from the journal', async () => {
    const world = aWorld();
    world.write();
    const heard = await listen(world.events, { name: 'ann', after: 0 });
    await expect.poll(() => heard.seqs()).toEqual([1]);
    world.journal.seq += 3;
    world.write();
    await expect.poll(() => heard.seqs()).toEqual(upTo(5));
  });

  it('receives a reset if its position is beyond the end of the journal, and continues from the end', async () => {
    const world = aWorld();
    for (let n = 0; n < 3; n++) world.write();
    const heard = await listen(world.events, { name: 'ann', after: 999 });
    await expect.poll(() => heard.text()).toContain('event: reset\nid: 3\n');
    world.write();
    await expect.poll(() => heard.seqs()).toEqual([4]);
  });

  it('receives only the requested kinds, and its position advances with the others', async () => {
    const world = aWorld();
    for (let n = 0; n < 6; n++) world.write();
    const heard = await listen(world.events, { name: 'ann', after: 1, kinds: new Set(['stopped']) });
    await expect.poll(() => heard.seqs()).toEqual([2, 4, 6]);
    for (let n = 0; n < 4; n++) world.write();
    await expect.poll(() => heard.seqs()).toEqual([2, 4, 6, 8, 10]);
  });
});

describe('the event stream', () => {
  it('sends heartbeats and drops a listener that has not read for three heartbeats', async () => {
    const world = aWorld();
    const heard = await listen(world.events, { name: 'ann' });
    world.events.beat();
    await expect.poll(() => heard.text()).toContain(': beat\n\n');
    heard.response.pause();
    for (let n = 0; n < 40_000 && world.events.listeners > 0; n++) {
      world.write();
      if (n % 1_000 === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        world.events.beat();
      }
    }
    expect([world.events.listeners, world.events.dropped]).toEqual([0, 1]);
  });

  it('accepts 32 listeners in total, and new ones after the others have left', async () => {
    const world = aWorld();
    for (let n = 0; n < 32; n++) {
      const name = `person-${Math.floor(n / 4)}`;
      expect(world.events.refusal(name)).toBeUndefined();
      await listen(world.events, { name });
    }
    expect(world.events.refusal('somebody else')).toMatchObject({ status: 503 });
    world.events.close();
    expect(world.events.refusal('person-0')).toBeUndefined();
  });

  it('sends the status of the desk to each new listener and when it changes', async () => {
    const status = { state: 'active' };
    const events = new EventStream({ status: () => status });
    const heard = await listen(events, { name: 'ann' });
    events.tellStatus();
    events.tellStatus();
    status.state = 'halted';
    events.tellStatus();
    const wanted = ['active', 'halted'].map((state) => `event: status\ndata: {"state":"${state}"}\n\n`);
    await expect.poll(() => heard.text().replace(': tranche\n\n', '')).toBe(wanted.join(''));
  });
});
