/** Values by an id that is unique within its account: one map for each account, since joining two texts to a key costs more. */
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

  /** All of an account, in the order in which their ids first came. */
  of(account: string): Map<string, T> {
    const known = this.accounts.get(account);
    if (known !== undefined) return known;
    const opened = new Map<string, T>();
    this.accounts.set(account, opened);
    return opened;
  }
}
