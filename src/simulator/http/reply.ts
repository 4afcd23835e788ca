/** The venue's response: a value with its status, or an error. */
export type Reply<T> = { readonly ok: true; readonly status: 200 | 201; readonly value: T } | Refusal;

/** A value that is already serialized as JSON. */
export class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly error: string;
}

export const found = <T>(value: T): Reply<T> => ({ ok: true, status: 200, value });
export const created = <T>(value: T): Reply<T> => ({ ok: true, status: 201, value });

const refusal = (status: number, error: string): Refusal => ({ ok: false, status, error });

/** Error texts quoted from the specification ("Errors") and the venue's public documentation. */
export const documented = {
  tooLarge: (usd: string, maxUsd: string, pair: string): Refusal =>
    refusal(422, `request USD value ${usd} greater than max USD value ${maxUsd} for pair ${pair}`),
  unsupported: (pair: string): Refusal =>
    refusal(422, `${pair} not currently supported for RFQ. please contact support for more information.`),
  unavailable: (): Refusal => refusal(503, 'quotes temporarily unavailable. please try again later.'),
  pairUnavailable: (pair: string): Refusal =>
    refusal(503, `${pair} quotes temporarily unavailable. please try again later.`),
  invalidPair: (pair: string): Refusal => refusal(422, `invalid currency_pair: ${pair}`),
  invalidToken: (): Refusal => refusal(401, 'invalid token. check authorization header.'),
  ptsDisabled: (): Refusal => refusal(403, 'post trade settlement disabled'),
  cancelUnknown: (): Refusal => refusal(400, 'internal error'),
  cancelNone: (): Refusal =>
    refusal(400, 'the order ids provided were invalid or the orders were already done/canceled'),
} as const;

/** Error texts that no document states. Clients may rely only on the status. */
export const assumed = {
  rateLimited: (): Refusal => refusal(429, 'too many requests'),
  malformed: (why: string): Refusal => refusal(400, `invalid request: ${why}`),
  invalidSize: (why: string): Refusal => refusal(422, `invalid size: ${why}`),
  quoteIdTaken: (): Refusal => refusal(422, 'client_quote_id was already used for another request'),
  unknownQuote: (): Refusal => refusal(422, 'quote not found'),
  quoteUsed: (): Refusal => refusal(422, 'quote was already used'),
  quoteExpired: (): Refusal => refusal(422, 'quote expired'),
  notAsQuoted: (field: string): Refusal => refusal(422, `${field} does not match the quote`),
  aboveQuote: (field: string): Refusal => refusal(422, `${field} is greater than quoted`),
  orderIdTaken: (): Refusal => refusal(422, 'client_order_id was already used'),
  noFunds: (currency: string): Refusal => refusal(422, `insufficient ${currency} balance`),
  unknownOrder: (): Refusal => refusal(404, 'order not found'),
  unknownRoute: (): Refusal => refusal(404, 'not found'),
  unknownCurrency: (currency: string): Refusal => refusal(422, `invalid currency: ${currency}`),
  unknownPair: (pair: string): Refusal => refusal(422, `invalid pair: ${pair}`),
  notWithdrawable: (currency: string): Refusal => refusal(422, `${currency} cannot be withdrawn`),
  noEquity: (): Refusal => refusal(422, 'amount exceeds the equity available for withdrawals'),
  unknownTransfer: (): Refusal => refusal(404, 'no such deposit or withdrawal is under way'),
  custodyDisabled: (): Refusal => refusal(403, 'custody disabled'),
  unknownAddress: (): Refusal => refusal(404, 'whitelisted address not found'),
  notPartner: (): Refusal => refusal(403, 'an enterprise partner token is required'),
  unknownUser: (user: string): Refusal => refusal(404, `user not found: ${user}`),
} as const;
