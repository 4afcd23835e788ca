/** The socket members used here. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  once(event: 'close', then: () => void): unknown;
}

/**
 * Closes connections of an address that already has `max`. The entry of an address is removed with its last connection.
 */
export function shareOfEachAddress(max: number): (socket: Connection) => void {
  const held = new Map<string, number>();
  return (socket) => {
    const { remoteAddress: address } = socket;
    // The connection has already closed.
    if (address === undefined) return;
    const count = held.get(address) ?? 0;
    if (count >= max) {
      socket.destroy();
      return;
    }
    held.set(address, count + 1);
    socket.once('close', () => {
      const left = (held.get(address) ?? 1) - 1;
      if (left === 0) held.delete(address);
      else held.set(address, left);
    });
  };
}
