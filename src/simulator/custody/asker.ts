/** The sender of a request: a token belongs to a user, and a user to an account. */
export interface Asker {
  readonly account: string;
  readonly user: string;
}
