import http from 'node:http';

/**
 * Loaded before the program with `--import`: all clocks of the process run `speed` times as fast, wall time from the
 * instant `from` (Unix ms). Processes with the same two numbers agree about the time. Nothing of the program is changed.
 *
 * With `begins=listening` it is `from` until the process first listens on a port, however long that takes, and time begins then: what
 * opens with the process, such as the market of its own simulated venue, opens at `from` exactly.
 */
const query = new URL(import.meta.url).searchParams;
const speed = Number(query.get('speed'));
const from = Number(query.get('from'));
if (!(speed >= 1) || !(from > 0)) throw new RangeError(`no speed and start in ${import.meta.url}`);

const realNow = performance.now.bind(performance);
const { timeOrigin } = performance;
/** When time begins, by the steady clock of the process; it has not begun while this is `undefined`. */
let began = query.get('begins') === 'listening' ? undefined : from - timeOrigin;
const loaded = realNow();
const lived = (): number => (began === undefined ? 0 : realNow() - began);
performance.now = (): number => (query.has('begins') ? loaded + lived() : realNow()) * speed;
const wall = (): number => Math.floor(from + lived() * speed);

const RealDate = Date;
class FastDate extends RealDate {
  constructor(...parts: readonly unknown[]) {
    if (parts.length === 0) super(wall());
    else super(...(parts as [number]));
  }

  static override now(): number {
    return wall();
  }
}
globalThis.Date = FastDate as DateConstructor;

const { setTimeout: realTimeout, setInterval: realInterval } = globalThis;
type Work = (...parts: readonly unknown[]) => void;
const fastTimeout = (work: Work, ms = 0, ...parts: readonly unknown[]): NodeJS.Timeout =>
  realTimeout(work, ms / speed, ...parts);
const fastInterval = (work: Work, ms = 0, ...parts: readonly unknown[]): NodeJS.Timeout =>
  realInterval(work, ms / speed, ...parts);
globalThis.setTimeout = Object.assign(fastTimeout, realTimeout);
globalThis.setInterval = Object.assign(fastInterval, realInterval);

// Node writes the header Date by its own clock: a server must tell the time that it lives in.
type Emit = (this: http.Server, event: string, ...parts: readonly unknown[]) => boolean;
// oxlint-disable-next-line typescript/unbound-method -- called with its server below
const realEmit = http.Server.prototype.emit as Emit;
http.Server.prototype.emit = function emit(this: http.Server, event, ...parts) {
  if (event === 'listening') began ??= realNow();
  const [, answer] = parts;
  if (event === 'request' && answer instanceof http.ServerResponse)
    answer.setHeader('date', new Date(wall()).toUTCString());
  return realEmit.call(this, event, ...parts);
} as Emit as http.Server['emit'];
