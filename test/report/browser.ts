import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';

export const BROWSER = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium'].find(
  (path) => path !== undefined && existsSync(path),
);
export const whyNoBrowser = 'there is no Chromium at CHROMIUM_PATH or /usr/bin/chromium';

/** What a page did when it was opened. */
export interface Seen {
  /** Messages of its console, errors of its scripts, refusals of its policy. */
  readonly console: readonly string[];
  /** Addresses that it asked for besides itself. */
  readonly asked: readonly string[];
  /** What reaches over the edge of the page, of its card or of its chart, and words of charts that lie on each other. */
  readonly over: readonly string[];
}

export interface Browser {
  /** Opens a page in a window of that width, in light or in dark. */
  readonly look: (html: string, width: number, scheme?: 'light' | 'dark') => Promise<Seen>;
  readonly close: () => Promise<void>;
}

/** A browser without a window, started when it is first needed. */
export function aBrowser(): Browser {
  let running: Promise<Running> | undefined;
  return {
    look: async (html, width, scheme = 'light') => {
      running ??= started();
      return await lookWith(await running, html, { width, scheme });
    },
    close: async () => {
      const one = await running;
      if (one === undefined) return;
      one.socket.terminate();
      const gone = new Promise((resolve) => one.child.once('close', resolve));
      one.child.kill('SIGKILL');
      await gone;
      rmSync(one.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

interface Running {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly socket: WebSocket;
  readonly send: (method: string, params?: object, sessionId?: string) => Promise<Readonly<Record<string, unknown>>>; // prettier-ignore
  readonly listeners: Set<(message: Message) => void>;
}

async function started(): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-browser-'));
  const child = spawn(
    BROWSER ?? '',
    ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${join(folder, 'profile')}`, 'about:blank'], // prettier-ignore
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const address = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /DevTools listening on (ws:\S+)/u.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => {
      reject(new Error(`the browser did not start: ${said}`));
    });
  });
  const socket = new WebSocket(address, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const listeners = new Set<(message: Message) => void>();
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    for (const listener of listeners) listener(message);
  });
  let last = 0;
  const send: Running['send'] = async (method, params = {}, sessionId) => {
    const id = ++last;
    return await new Promise((resolve, reject) => {
      const listener = (message: Message): void => {
        if (message.id !== id) return;
        listeners.delete(listener);
        if (message.error === undefined) resolve(message.result ?? {});
        else reject(new Error(`${method}: ${JSON.stringify(message.error)}`));
      };
      listeners.add(listener);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  };
  return { child, folder, socket, send, listeners };
}

async function lookWith(
  { send, folder, listeners }: Running,
  html: string,
  { width, scheme }: { readonly width: number; readonly scheme: string },
): Promise<Seen> {
  const file = join(folder, 'report.html');
  writeFileSync(file, html);
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const own = String(sessionId);
  const [said, asked]: [string[], string[]] = [[], []];
  let loaded = (): void => undefined;
  const isLoaded = new Promise<void>((resolve) => (loaded = resolve));
  const page = pathToFileURL(file).href;
  const listener = ({ method, sessionId: of, params = {} }: Message): void => {
    if (of !== own) return;
    if (method === 'Page.loadEventFired') loaded();
    if (
      method === 'Runtime.consoleAPICalled' ||
      method === 'Runtime.exceptionThrown' ||
      method === 'Log.entryAdded'
    )
      said.push(JSON.stringify(params));
    if (method !== 'Network.requestWillBeSent') return;
    const { url } = params['request'] as { readonly url: string };
    if (url !== page) asked.push(url);
  };
  listeners.add(listener);
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`, {}, own);
  await send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false }, own); // prettier-ignore
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] }, own); // prettier-ignore
  await send('Page.navigate', { url: page }, own);
  await isLoaded;
  const { result } = await send('Runtime.evaluate', { expression: `(${LOOK})()`, returnByValue: true }, own);
  await send('Target.closeTarget', { targetId });
  listeners.delete(listener);
  const { value } = result as { readonly value: readonly string[] };
  return { console: said, asked, over: value };
}

/** Runs in the page. Tables and wide charts may be moved sideways inside their own frames; the page itself may not. */
const LOOK = `() => {
  const over = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) over.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const card of document.querySelectorAll('.cards div'))
    if (card.scrollWidth > card.clientWidth) over.push('"' + card.textContent + '" reaches over the edge of its card');
  for (const svg of document.querySelectorAll('figure > svg')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue; // drawn for another width
    const name = svg.querySelector('title')?.textContent ?? '';
    const words = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, at: text.getBoundingClientRect() }));
    for (const [i, { text, at }] of words.entries()) {
      if (at.left < frame.left - 0.5 || at.right > frame.right + 0.5 || at.top < frame.top - 0.5 || at.bottom > frame.bottom + 0.5)
        over.push(name + ': "' + text + '" reaches over the edge');
      if (at.height < 7) over.push(name + ': "' + text + '" is too small to be read');
      for (const other of words.slice(i + 1))
        if (at.left < other.at.right && other.at.left < at.right && at.top + 2 < other.at.bottom && other.at.top + 2 < at.bottom)
          over.push(name + ': "' + text + '" lies on "' + other.text + '"');
    }
  }
  return over.slice(0, 20);
}`;
