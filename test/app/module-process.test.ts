import { fork } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeInOwnProcess } from '../../src/app/strategies/module-process.ts';
import { RUNNER_OPTIONS } from '../../src/app/strategies/module-request.ts';
import { loadModule } from '../../src/app/strategies/modules.ts';
import { sha256 } from '../../src/journal/proof/link.ts';
import { codeIn } from '../../src/strategy/kinds/module/module-code.ts';
import type { ModuleCall, ModuleCode } from '../../src/strategy/kinds/module/module-call.ts';
import { readStep } from '../../src/strategy/kinds/module/module-step.ts';
import { NINE } from '../strategy/views.ts';
import { aFolder } from '../support/folder.ts';

const sourceOf = (text: string): { file: string; sha256: string; text: string } => ({
  file: './own.ts',
  sha256: sha256(text),
  text,
});
const KERNEL = `import { defineKernel, later, quantity, z } from 'tranche/strategy';
const held = [];
export const kernel = defineKernel({
  params: z.strictObject({ do: z.string() }),
  start: (params, view) => ({ state: { n: 0 }, waits: [{ on: 'at', at: later(view.at, 'PT1M') }] }),
  step(state, wake, params, view) {
    if (params.do === 'throw') throw new Error('no');
    if (params.do === 'loop') for (;;);
    if (params.do === 'grow') for (;;) held.push(new Array(100_000).fill(held.length));
    if (params.do === 'hide') return { state: { n: quantity('1') }, finished: true };
    const seen = [view.price('btcusd'), view.balance('usd'), view.balance('eth'), view.left, wake.on].join(' ');
    const intents = [{ pair: 'btcusd', side: 'buy', quantity: quantity('0.250'), limit: view.price('btcusd') }];
    return { state: { n: state.n + 1, seen }, intents, finished: true };
  },
});
`;
const view = {
  at: NINE,
  begunAt: NINE,
  pairs: {
    btcusd: { base: 'btc', quote: 'usd', basePrecision: 8, quotePrecision: 2, minimum: {}, price: '60000.5' },
  },
  bars: {},
  balances: { usd: '-3.25' },
  left: '1',
  open: 0,
};
const stepOf = (what: string): ModuleCall => ({
  do: 'step',
  params: { do: what },
  view,
  state: { n: 1 },
  wake: { on: 'at', at: NINE, due: NINE },
});
function codeOf(text: string): ModuleCode {
  const code = codeInOwnProcess(sourceOf(text));
  if ('problem' in code) throw new Error(code.problem);
  return code;
}

describe('a module in a separate process', () => {
  it('returns the same results as in the process of the desk, for every kind of call', () => {
    const here = codeIn(loadModule(sourceOf(KERNEL)));
    if ('problem' in here) throw new Error(here.problem);
    const there = codeOf(KERNEL);
    expect(there({ do: 'check', params: { do: 1 } })).toEqual(here({ do: 'check', params: { do: 1 } }));
    expect(there({ do: 'bars', params: { do: 'buy' } })).toEqual([]);
    for (const call of [{ do: 'start', params: { do: 'buy' }, view } as const, stepOf('buy')])
      expect(there(call)).toEqual(readStep(here(call)));
    expect(there(stepOf('buy'))).toMatchObject({
      state: { n: 2, seen: '60000.5 -3.25 0 1 at' },
      intents: [{ quantity: '0.25', limit: '60000.5' }],
    });
  });

  it('reports an error with the line of the module, and values that must not be in its state', () => {
    const code = codeOf(KERNEL);
    expect(() => code(stepOf('throw'))).toThrow('Error: no (own.ts:7)');
    expect(() => code(stepOf('hide'))).toThrow('state.n is an amount: keep it as text(…)');
    expect(codeInOwnProcess(sourceOf("import 'node:fs';"))).toEqual({
      problem: expect.stringContaining('it imports node:fs: a module may import') as string,
    });
  });

  it('is terminated if a step does not end or fills the memory, and restarted for the next step', () => {
    const code = codeOf(KERNEL);
    expect(() => code(stepOf('loop'))).toThrow('it did not end within 2 s');
    expect(code(stepOf('buy'))).toMatchObject({ state: { n: 2 } });
    expect(() => code(stepOf('grow'))).toThrow('the process of the module ended: ');
    expect(code(stepOf('buy'))).toMatchObject({ state: { n: 2 } });
  });

  it('changes no prototype of another module', () => {
    const changing = `${KERNEL}(x => { x.map = () => [{ pair: 'btcusd', side: 'sell', quantity: '9' }]; })(Reflect.getPrototypeOf([]));`;
    codeInOwnProcess(sourceOf(changing));
    expect(codeOf(KERNEL)(stepOf('buy'))).toMatchObject({ intents: [{ side: 'buy', quantity: '0.25' }] });
  });

  it.runIf(process.platform === 'linux')('is terminated if buffers fill its memory outside the heap', () => {
    const text = KERNEL.replace(
      'held.push(new Array(100_000).fill(held.length))',
      'held.push(new Uint8Array(10_000_000).fill(1))',
    );
    expect(() => codeOf(text)(stepOf('grow'))).toThrow('the process of the module ended: SIGKILL');
  });

  it('is terminated if its answer is too long', () => {
    const code = codeOf(KERNEL.replace('start: (', "bars: () => 'x'.repeat(300_000), start: ("));
    expect(() => code({ do: 'bars', params: { do: 'buy' } })).toThrow(
      'the process of the module ended: its answer has more than 262144 characters',
    );
    expect(code(stepOf('buy'))).toMatchObject({ state: { n: 2 } });
  });

  it('cannot generate code from strings, even through an allowed library', () => {
    const text = `import { z } from 'tranche/strategy';
const doc = new z.core.Doc([]);
doc.write('return process.env');
export const found = doc.compile()();
`;
    expect(codeInOwnProcess(sourceOf(text))).toEqual({
      problem: expect.stringContaining('EvalError: Code generation from strings disallowed') as string,
    });
  });

  it('has no access to environment, files, network, processes, threads, addons or debugger', async () => {
    const runner = new URL('../../src/app/strategies/module-runner.ts', import.meta.url).href;
    const probe = join(aFolder({ 'probe.mjs': PROBE.replace('RUNNER', runner) }), 'probe.mjs');
    process.env['CANARY_OF_A_TOKEN'] = 'canary';
    try {
      // The runner is loaded first, so that it has dropped its permissions.
      const child = fork(probe, [], { execArgv: [...RUNNER_OPTIONS], env: {}, stdio: 'pipe', serialization: 'json' }); // prettier-ignore
      const [stdio] = [child.stdout, child.stderr];
      stdio?.resume();
      const found = await new Promise((resolve, reject) => {
        child.once('message', resolve).once('exit', (code) => {
          reject(new Error(`ended with ${String(code)}`));
        });
      });
      child.kill();
      const denied = 'ERR_ACCESS_DENIED';
      expect(found).toEqual({
        env: [],
        readFile: denied,
        readdir: denied,
        writeFile: denied,
        exec: denied,
        thread: denied,
        addon: 'ERR_DLOPEN_DISABLED',
        inspector: denied,
        connect: denied,
        udp: denied,
        lookup: denied,
      });
    } finally {
      delete process.env['CANARY_OF_A_TOKEN'];
    }
  });
});

/** Tries the capabilities of Node that a module could use, within the runner of modules. */
const PROBE = `import fs from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
import dgram from 'node:dgram';
import { execSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { Session } from 'node:inspector';
await import('RUNNER');
const tried = (run) => { try { run(); return 'done'; } catch (error) { return error.code ?? error.message; } };
const later = (run) => new Promise((done) => { try { run((error) => done(error?.code ?? 'done')); } catch (error) { done(error.code ?? error.message); } });
process.send({
  env: Object.keys(process.env),
  readFile: tried(() => fs.readFileSync('/proc/self/status')),
  readdir: tried(() => fs.readdirSync('/')),
  writeFile: tried(() => fs.writeFileSync('/tmp/tranche-probe', '')),
  exec: tried(() => execSync('true')),
  thread: tried(() => new Worker('', { eval: true })),
  addon: tried(() => process.dlopen({ exports: {} }, '/none.node')),
  inspector: tried(() => new Session().connect()),
  connect: await later((done) => net.connect(9, '127.0.0.1').on('error', done).on('connect', done)),
  udp: await later((done) => dgram.createSocket('udp4').on('error', done).send('x', 9, '127.0.0.1', done)),
  lookup: await later((done) => dns.lookup('localhost', done)),
});
`;
