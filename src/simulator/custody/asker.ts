/** Who asks: a token is a user's, and a user belongs to an account. */
export interface Asker {
  readonly account: string;
  readonly user: string;
}
