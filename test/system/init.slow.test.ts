import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const TRANCHE = join(import.meta.dirname, '../../bin/tranche.js');
const isThere = spawnSync('script', ['--version']).status === 0;
const why = 'script, of util-linux, is not installed: it gives a program a terminal';
const [ENTER, DOWN, CANCEL] = ['\r', '\u001b[B', '\u0003'];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-init-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The program in a terminal: what it shows, and keys to press once it shows something. */
class InTerminal {
  shown = '';
  readonly #child: ChildProcess;

  constructor(...args: readonly string[]) {
    const line = [process.execPath, TRANCHE, ...args].map((each) => `'${each}'`).join(' ');
    // A terminal without a window has no width.
    this.#child = spawn('script', ['-qfec', `stty cols 200 rows 50; exec ${line}`, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, TERM: 'xterm' },
    });
    this.#child.stdout?.on('data', (piece: Buffer) => (this.shown += piece.toString()));
    onTestFinished(() => {
      this.#child.kill('SIGKILL');
    });
  }

  /** Presses keys once the next question is there. */
  async answer(question: string, ...keys: readonly string[]): Promise<void> {
    const from = Date.now();
    while (!this.shown.includes(question)) {
      if (Date.now() - from > 30_000) throw new Error(`"${question}" is not asked:\n${this.shown}`);
      await new Promise((wait) => setTimeout(wait, 20));
    }
    for (const key of keys) {
      this.#child.stdin?.write(key);
      await new Promise((wait) => setTimeout(wait, 60));
    }
  }

  readonly ended = async (): Promise<number | null> =>
    await new Promise((done) => {
      if (this.#child.exitCode === null) this.#child.once('exit', done);
      else done(this.#child.exitCode);
    });
}

describe(`init in a terminal${isThere ? '' : ` (skipped: ${why})`}`, () => {
  it('asks for the settings of a desk and writes files that validate accepts', async (ctx) => {
    if (!isThere) return ctx.skip(why);
    const run = new InTerminal('init', 'desk');
    await run.answer('What should the desk do?', DOWN, DOWN, ENTER);
    await run.answer('Which pair?', 'ethusd', ENTER);
    await run.answer('How much', '5 btc', ENTER);
    await run.answer('expected an amount in eth or usd', '\u007f'.repeat(5), '20000 usd', ENTER);
    await run.answer('When?', ENTER);
    await run.answer('In which time zone?', 'Europe/London', ENTER);
    await run.answer('Where should it trade?', ENTER);
    await run.answer('Who should receive alerts?', ENTER);
    await run.answer('On which address should the dashboard', ENTER);
    expect([await run.ended(), run.shown]).toEqual([0, expect.stringContaining('next:')]);
    const checked = spawnSync(process.execPath, [TRANCHE, 'validate', '--config', 'desk/config/desk.yaml'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([checked.status, checked.stdout]).toEqual([
      0,
      expect.stringMatching(/eth-dca {2}recurring ethusd {2}on a calendar in Europe\/London/u),
    ]);
  }, 60_000);

  it('writes nothing if the user cancels', async (ctx) => {
    if (!isThere) return ctx.skip(why);
    const run = new InTerminal('init', 'desk', '--does', 'buy');
    await run.answer('Which pair?', ENTER);
    await run.answer('How much', CANCEL);
    expect(await run.ended()).toBe(130);
    expect([readdirSync(folder), run.shown]).toEqual([[], expect.stringContaining('nothing was written')]);
  }, 60_000);

  it('asks no question with --yes', async (ctx) => {
    if (!isThere) return ctx.skip(why);
    const run = new InTerminal('init', 'desk', '--yes');
    expect(await run.ended()).toBe(0);
    expect([readdirSync(join(folder, 'desk')), run.shown]).toEqual([['config', 'strategies'], expect.not.stringContaining('What should')]); // prettier-ignore
  }, 60_000);
});
