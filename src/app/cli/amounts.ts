/** An amount for people: thousands apart. What is no amount stays as it is. */
export function apart(text: string): string {
  const [whole = '', decimals] = text.split('.');
  const grouped = /^-?\d+$/u.test(whole) ? whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, ',') : whole;
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}
