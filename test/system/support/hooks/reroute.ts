import net from 'node:net';

/**
 * Loaded before the program with `--import`: connections to the port `from` of the loopback address lead to the port `to`. Each machine of a
 * test reaches the one venue over a line of its own, as with routers between them. Nothing of the program is changed.
 */
const query = new URL(import.meta.url).searchParams;
const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
if (!(from > 0) || !(to > 0)) throw new RangeError(`no ports in ${import.meta.url}`);

interface Options {
  port?: number | string;
}
type Connect = (this: net.Socket, ...parts: unknown[]) => net.Socket;
// oxlint-disable-next-line typescript/unbound-method -- called with its socket below
const connect = net.Socket.prototype.connect as Connect;
net.Socket.prototype.connect = function rerouted(this: net.Socket, ...parts: unknown[]) {
  // Node passes a list of options and callback, or both as arguments.
  const [first] = parts;
  const options = (Array.isArray(first) ? first[0] : first) as Options;
  if (Number(options.port) === from) options.port = to;
  return connect.apply(this, parts);
};
