import type { BookingOptions } from '../options/options-booking.ts';
import type { RateOptions, RiskModeText } from '../options/options.ts';

/**
 * Every action on an exchange, as plain JSON. The exchange is a pure state machine with seeded randomness, so the same
 * actions at the same times create the same exchange, including ids, quotes and balances.
 */
export type ReplayEntry =
  | {
      readonly kind: 'call';
      /** `POST /v1/quote` */
      readonly route: string;
      readonly account: string;
      readonly user?: string | undefined;
      readonly now: number;
      readonly query: unknown;
      readonly params: unknown;
      readonly body: string;
      /** A drill made every order end `Canceled`. */
      readonly canceling?: true | undefined;
      /** How orders were booked. */
      readonly booking?: BookingOptions | undefined;
    }
  | { readonly kind: 'drill'; readonly now: number; readonly drill: Drill };

/** Actions of a drill or a test, other than calls. Amounts are text. */
export type Drill = Readonly<
  | { do: 'deposit'; account: string; currency: string; amount: string }
  | { do: 'reward'; account: string; currency: string; amount: string; label: string }
  | { do: 'announce'; account: string; currency: string; amount: string }
  | { do: 'settle'; account: string; id: number }
  | { do: 'availability'; scope: string; state: 'available' | 'unavailable' }
  | { do: 'mode'; pair: string; mode: RiskModeText }
  | { do: 'rate'; currency: string; rate: RateOptions }
  | { do: 'pin'; pair: string; mid?: string | undefined }
  | { do: 'transfer'; account: string; id: number; what: 'cancel' | 'hold' | 'release' }
>;
