import type { Desk } from '../desk.ts';

/** The parts of a desk that this file uses. */
export type StillBookingContext = Pick<Desk, 'account' | 'ports' | 'state'>;

/** Orders that the venue has not booked all of, for people: one line each. */
export const bookingWords = (desk: StillBookingContext): readonly string[] => [
  ...partWords(desk),
  ...missingWords(desk),
];

/** Fills of which the account shows a part so far. */
function partWords(desk: StillBookingContext): readonly string[] {
  const now = desk.ports.clock.monotonic();
  return [...desk.account.booking].map(([id, shown]) => {
    const seconds = Math.ceil((desk.account.bookingEnds(id) - now) / 1_000);
    const until = seconds > 0 ? `what it shows counts in ${seconds} s` : 'what it shows next counts';
    return `${id} is still being booked: the account shows ${shown}; ${until}`;
  });
}

/** Fills that lack a part of their order. */
const missingWords = ({ state }: StillBookingContext): readonly string[] =>
  [...state.lacking.values()].map(({ client_order_id: id, missing, base }) => {
    const what = `${missing?.quantity ?? '0'} ${base}`;
    return `${id} lacks ${what} of its order: it counts as filled until the account shows it, or a person resolves it as not executed`;
  });
