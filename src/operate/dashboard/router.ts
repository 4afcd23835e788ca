import { signal } from '@preact/signals';

export const screens = [
  { id: 'now', title: 'Now', key: 'n', asks: 'Is everything in order?' },
  { id: 'slices', title: 'Slices', key: 's', asks: 'What is happening to each slice?' },
  { id: 'why', title: 'Why', key: 'w', asks: 'Why did it trade, or not?' },
  { id: 'approvals', title: 'Approvals', key: 'a', asks: 'Which requests need my decision?' },
  { id: 'limits', title: 'Limits', key: 'l', asks: 'How much of each limit is used?' },
  { id: 'doubts', title: 'Doubts', key: 'd', asks: 'What is unknown, and when can it be proven?' },
  { id: 'plan', title: 'Plan', key: 'p', asks: 'What will it do next, and can it?' },
  { id: 'cost', title: 'Cost', key: 'c', asks: 'Was this good execution?' },
  { id: 'record', title: 'Record', key: 'r', asks: 'Who did what, and is the record complete?' },
  { id: 'people', title: 'People', key: 'o', asks: 'Who may do what?' },
] as const;
export type ScreenId = (typeof screens)[number]['id'];

export interface Route {
  readonly screen: ScreenId;
  readonly query: Readonly<Record<string, string>>;
}

export const route = signal<Route>(routeOf(location.hash));
addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

/** `#/slices?strategy=btc-twap`. An unknown name opens the first screen. */
function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/u, '').split('?');
  const screen = screens.find(({ id }) => id === path)?.id ?? 'now';
  return { screen, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** The URL of a screen. Empty parameters are omitted. */
export function linkTo(screen: ScreenId, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${screen}${search === '' ? '' : `?${search}`}`;
}

/** Changes the parameters of a screen, without a history entry for each typed letter. */
export function ask(query: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, '', linkTo(route.value.screen, { ...route.value.query, ...query }));
  route.value = routeOf(location.hash);
}
