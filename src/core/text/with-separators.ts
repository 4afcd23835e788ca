/** An amount for people: its thousands apart. What is no amount stays as it is. */
export function withSeparators(amount: string): string {
  const [whole = '', decimals] = amount.split('.');
  const grouped = /^-?\d+$/u.test(whole) ? whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, ',') : whole;
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** A sentence for people: the thousands of its amounts apart. An amount stands before its currency or what it counts. */
export const amountsApart = (sentence: string): string =>
  sentence.replaceAll(/(?<![\w.,-])\d{4,}(?:\.\d+)?(?= [A-Za-z]{2})/gu, withSeparators);
