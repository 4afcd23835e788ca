import type { VenueOptions } from '../options/options.ts';
import type { BookingOptions } from '../options/options-booking.ts';

/** A drill's overrides for the orders of one request. */
export interface OrderDrill {
  /** Every accepted order ends `Canceled`. */
  readonly canceled?: true | undefined;
  /** How the orders are booked, instead of as in the settings. */
  readonly booking?: BookingOptions | undefined;
}

/** Settings that a drill changes temporarily while the venue runs. */
export class DrillOverrides {
  /** The settings for the exchange, read at each use. */
  readonly options: VenueOptions;
  private drill: OrderDrill = {};

  constructor(options: VenueOptions) {
    const probability = (): number => (this.drill.canceled === true ? 1 : options.cancelProbability);
    const booking = (): BookingOptions | undefined => this.drill.booking ?? options.booking;
    this.options = {
      ...options,
      get cancelProbability() {
        return probability();
      },
      get booking() {
        return booking();
      },
    };
  }

  /** Runs `work`, whose orders follow `drill`. */
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
