import type { Outgoing } from '../../../src/venue/http.ts';

/** Logical names of requests: parents and copies are counted, so that they say the same whatever their ids are. */
export class Names {
  readonly #counts = new Map<string, number>();
  readonly #parents = new Map<string, number>();

  of({ method, path, body = '' }: Outgoing, boot: number): string {
    const id = /"client_(?:quote|order)_id":"(?<id>[^"]+)"/u.exec(body)?.groups?.['id'];
    if (id !== undefined) {
      const kind = path === '/v1/quote' ? 'quote' : 'order';
      const [, , parent = '', slice = '', attempt = ''] = id.split('-');
      const known = this.#parents.get(parent) ?? this.#parents.size;
      this.#parents.set(parent, known);
      const name = `${kind} p${known}/${slice}/${attempt}`;
      const copy = this.#count(name);
      return copy === 1 ? name : `${name} copy ${copy}`;
    }
    const route = path.split('?')[0]?.split('/').slice(2) ?? [];
    const kind = method === 'POST' ? 'probe' : route[0] === 'orders' ? 'lookup' : route.join('/');
    return `${kind} ${boot}.${this.#count(`${kind} ${boot}`)}`;
  }

  #count(name: string): number {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }
}
