import type { VenueOptions } from '../options/options.ts';
import type { BookingOptions } from '../options/options-booking.ts';
import type { ListOptions } from '../options/options-lists.ts';

/** A drill's overrides for one request. */
export interface OrderDrill {
  /** Every accepted order ends `Canceled`. */
  readonly canceled?: true | undefined;
  /** How the orders are booked, instead of as in the settings. */
  readonly booking?: BookingOptions | undefined;
  /** How the transactions are shown, instead of as in the settings. */
  readonly lists?: ListOptions | undefined;
}

/** Settings that a drill changes temporarily while the venue runs. */
export class DrillOverrides {
  /** The settings for the exchange, read at each use. */
  readonly options: VenueOptions;
  private drill: OrderDrill = {};

  constructor(options: VenueOptions) {
    const probability = (): number => (this.drill.canceled === true ? 1 : options.cancelProbability);
    const booking = (): BookingOptions | undefined => this.drill.booking ?? options.booking;
    const lists = (): ListOptions | undefined => this.drill.lists ?? options.lists;
    this.options = {
      ...options,
      get cancelProbability() {
        return probability();
      },
      get booking() {
        return booking();
      },
      get lists() {
        return lists();
      },
    };
  }

  /** Runs `work`, which follows `drill`. */
  readonly drilling = <T>(drill: OrderDrill, work: () => T): T => {
    const before = this.drill;
    this.drill = drill;
    try {
      return work();
    } finally {
      this.drill = before;
    }
  };
}
