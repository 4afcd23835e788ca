import type { Desk } from '../desk.ts';

/** Describes, one line each, orders that the venue has not fully booked. */
export const bookingWords = (desk: Desk): readonly string[] => [...partWords(desk), ...missingWords(desk)];

/** Fills that the account shows only in part so far. */
function partWords(desk: Desk): readonly string[] {
  const now = desk.ports.clock.monotonic();
  return [...desk.account.booking].map(([id, { shown, dueAt }]) => {
    const seconds = Math.ceil((dueAt - now) / 1_000);
    const until =
      seconds > 0
        ? `the desk books its figures in ${seconds} s`
        : 'the desk books the next figures that it shows';
    return `${id} is still being booked: the account shows ${shown}; ${until}`;
  });
}

/** Fills with a missing part. */
const missingWords = ({ state }: Desk): readonly string[] =>
  [...state.lacking.values()].map(({ client_order_id: id, missing, base }) => {
    const what = `${missing?.quantity ?? '0'} ${base}`;
    return `${id} lacks ${what} of its order: it counts as filled until the account shows it, or a person resolves it as not executed`;
  });
