/** Adds thousands separators to an amount; other text is unchanged. */
export function withSeparators(amount: string): string {
  const [whole = '', decimals] = amount.split('.');
  const grouped = /^-?\d+$/u.test(whole) ? whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, ',') : whole;
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** Adds thousands separators to the amounts in a sentence. An amount is followed by its currency or unit. */
export const amountsApart = (sentence: string): string =>
  sentence.replaceAll(/(?<![\w.,-])\d{4,}(?:\.\d+)?(?= [A-Za-z]{2})/gu, withSeparators);
