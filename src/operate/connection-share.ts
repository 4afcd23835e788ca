/** What it needs of a socket. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  once(event: 'close', then: () => void): unknown;
}

/** Closes connections of an address that already holds `max`. An entry goes with the last connection of its address. */
export function shareOfEachAddress(max: number): (socket: Connection) => void {
  const held = new Map<string, number>();
  return (socket) => {
    const { remoteAddress: address } = socket;
    // It is gone already.
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
