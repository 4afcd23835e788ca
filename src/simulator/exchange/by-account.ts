/**
 * Values by an id that is unique within its account. One map for each account, because joining two texts to a key is
 * slower.
 */
export class ByAccount<T> {
  private readonly accounts = new Map<string, Map<string, T>>();

  get(account: string, id: string): T | undefined {
    return this.accounts.get(account)?.get(id);
  }

  set(account: string, id: string, value: T): void {
    this.of(account).set(id, value);
  }

  delete(account: string, id: string): void {
    this.accounts.get(account)?.delete(id);
  }

  /** All values of an account, in the order in which their ids were first added. */
  of(account: string): Map<string, T> {
    const known = this.accounts.get(account);
    if (known !== undefined) return known;
    const opened = new Map<string, T>();
    this.accounts.set(account, opened);
    return opened;
  }
}
