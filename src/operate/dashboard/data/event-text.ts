/** One server-sent event. */
export interface ServerEvent {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Parses an event stream that arrives in arbitrary pieces. A comment line is not an event. */
export function eventReader(onEvent: (event: ServerEvent) => void): (piece: string) => void {
  let rest = '';
  let id: string | undefined;
  let event = 'message';
  let data: string[] = [];
  const take = (line: string): void => {
    if (line === '') {
      if (data.length > 0) onEvent({ id, event, data: data.join('\n') });
      [event, data] = ['message', []];
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /u, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  };
  return (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line.endsWith('\r') ? line.slice(0, -1) : line);
  };
}
