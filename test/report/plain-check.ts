import { expect } from 'vitest';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { bps, times, units, wide, wideText } from './plain.ts';
import { PlainPrices, addCosts, costsText, plainCosts, plainFills, plainMissed, plainParents, plainQuoting, plainTwap, plainVwap, sum } from './plain-report.ts'; // prettier-ignore
import type { PlainParent } from './plain-report.ts';

type ParentJson = Report['parents'][number];
type GroupJson = Report['groups'][number];

/** Holds every figure of execution of a report to a plain calculation, to the last digit. Gives how many parents that were. */
export function expectPlainReport(
  report: Report,
  all: readonly StoredRecord[],
  tapes: readonly Tape[],
): { readonly parents: number; readonly slices: number } {
  const prices = new PlainPrices(tapes);
  const parents = plainParents(all);
  const told = new Map(report.parents.map((parent) => [parent.parent, parent]));
  expect(report.parents_left_out).toBe(0);
  expect([...told.keys()].toSorted()).toEqual(parents.map(({ id }) => id).toSorted());
  let slices = 0;
  for (const parent of parents) {
    const json = told.get(parent.id);
    if (json === undefined) continue;
    checkParent(parent, json, prices);
    slices += json.slices.length;
  }
  for (const group of report.groups)
    checkGroup(group, parents.filter(({ first, strategy }) => strategy === group.strategy && first.pair === group.pair && first.side === group.side), { report, all, prices }); // prettier-ignore
  expect(report.groups.reduce((count, { costs }) => count + costs.parents, 0)).toBe(parents.length);
  checkTotals(report, parents, prices);
  const everything = new Set(parents.map(({ id }) => id));
  expect(report.quoting).toMatchObject(plainQuoting(all, everything));
  expect(report.fills).toBe(parents.reduce((count, { fills }) => count + fills.length, 0));
  return { parents: parents.length, slices };
}

function checkParent(parent: PlainParent, json: ParentJson, prices: PlainPrices): void {
  const { first, fills, begun, slices } = parent;
  const endedAt = Date.parse(json.ended_at);
  const [from, until] = [Date.parse(json.window.from), Date.parse(json.window.until)];
  const f = sum(fills.map(({ quantity }) => units(quantity)));
  const paid = wide(sum(fills.map(({ amount }) => units(amount))));
  const s = first.side === 'buy' ? 1n : -1n;
  expect(json.costs).toEqual(costsText(plainCosts(parent, prices, until)));
  expect([json.traded, json.amount, json.arrival_price]).toEqual([wideText(wide(f)), wideText(paid), wideText(wide(units(first.decision_price ?? '')))]); // prettier-ignore
  expect([Date.parse(json.begun_at), Date.parse(json.due_at)]).toEqual([begun, parent.due]);
  if (f === 0n) return;
  if (wideText(wide(f)) === json.planned) expect(endedAt).toBe(Math.max(...fills.map((fill) => fill.executed_at), begun)); // prettier-ignore
  expect(rounded(json.average_price ?? '', 12)).toBe(quotient(paid, f));
  for (const [stated, price] of [
    [json.twap, plainTwap(prices, first.pair, from, until)],
    [json.vwap, plainVwap(prices, first.pair, from, until)],
  ] as const) {
    const at = times(f, units(price ?? '0'));
    expect(stated).toEqual(
      price === undefined ? undefined : { price, slippage_bps: bps(s * (paid - at), at) },
    );
  }
  const pa = units(first.decision_price ?? '');
  expect(json.slices).toHaveLength(slices.length);
  for (const [i, slice] of slices.entries()) {
    const { at, intent } = slice;
    const missed = plainMissed(slice, parent, prices.close(first.pair, until));
    expect(json.slices[i]?.untraded).toBe(wideText(wide(missed.untraded)));
    expect(json.slices[i]?.missed_cost).toBe(missed.cost === undefined ? undefined : wideText(missed.cost));
    const own = fills.filter((fill) => fill.slice === intent.slice);
    const [fk, ak] = [sum(own.map(({ quantity }) => units(quantity))), wide(sum(own.map(({ amount }) => units(amount))))]; // prettier-ignore
    const dk = units(intent.decision_price ?? '');
    expect(json.slices[i]).toMatchObject({
      slice: intent.slice,
      wanted: intent.size,
      traded: wideText(wide(fk)),
      amount: wideText(ak),
      decision_price: wideText(wide(dk)),
      cost: wideText(s * (ak - times(fk, pa))),
      ...(fk === 0n ? {} : { cost_bps: bps(s * (ak - times(fk, pa)), times(fk, pa)) }),
      timing: wideText(s * times(fk, dk - pa)),
      execution: wideText(s * (ak - times(fk, dk))),
    });
    expect(Date.parse(json.slices[i]?.decided_at ?? '')).toBe(at);
  }
}

interface Around {
  readonly report: Report;
  readonly all: readonly StoredRecord[];
  readonly prices: PlainPrices;
}

function checkGroup(group: GroupJson, own: readonly PlainParent[], { report, all, prices }: Around): void {
  const fills = own.flatMap((parent) => parent.fills);
  const endOf = (id: string): number =>
    Date.parse(report.parents.find(({ parent }) => parent === id)?.ended_at ?? '');
  const references = new Map(all.flatMap(({ body }) => (body.kind === 'intent' ? [[body.client_order_id, body.reference_price] as const] : []))); // prettier-ignore
  const f = sum(fills.map(({ quantity }) => units(quantity)));
  const paid = wide(sum(fills.map(({ amount }) => units(amount))));
  expect([group.traded, group.amount]).toEqual([wideText(wide(f)), wideText(paid)]);
  expect(group.costs).toMatchObject(costsText(addCosts(own.map((parent) => plainCosts(parent, prices, endOf(parent.id)))))); // prettier-ignore
  const missed = own.flatMap((parent) => parent.slices.flatMap((slice) => plainMissed(slice, parent, prices.close(group.pair, endOf(parent.id))).cost ?? [])); // prettier-ignore
  expect([group.costs.missed_slices, group.costs.missed_cost]).toEqual([
    missed.length,
    wideText(sum(missed)),
  ]);
  const order = new Map(fills.map((fill) => [fill.client_order_id, fill]));
  expect(group.fills).toEqual(plainFills([...order.values()], references, prices));
  expect(group.quoting).toMatchObject(plainQuoting(all, new Set(own.map(({ id }) => id))));
  const s = group.side === 'buy' ? 1n : -1n;
  for (const [key, meanOf] of [
    ['twap_slippage_bps', plainTwap],
    ['vwap_slippage_bps', plainVwap],
  ] as const) {
    // prettier-ignore
    let [over, at] = [0n, 0n];
    for (const parent of own) {
      const mean = meanOf(prices, group.pair, parent.begun, endOf(parent.id));
      if (mean === undefined || parent.fills.length === 0) continue;
      const value = sum(parent.fills.map(({ quantity }) => times(units(quantity), units(mean))));
      over += s * (wide(sum(parent.fills.map(({ amount }) => units(amount)))) - value);
      at += value;
    }
    expect(group[key]).toBe(at === 0n ? undefined : bps(over, at));
  }
}

function checkTotals(report: Report, parents: readonly PlainParent[], prices: PlainPrices): void {
  const quotes = new Set(report.groups.map(({ quote }) => quote));
  expect(report.totals.map(({ quote }) => quote)).toEqual([...quotes]);
  for (const total of report.totals) {
    const pairs = new Set(report.groups.filter(({ quote }) => quote === total.quote).map(({ pair }) => pair));
    const own = parents.filter(({ first }) => pairs.has(first.pair));
    const fills = own.flatMap((parent) => parent.fills);
    const ends = new Map(report.parents.map(({ parent, ended_at: at }) => [parent, Date.parse(at)]));
    const costs = addCosts(own.map((parent) => plainCosts(parent, prices, ends.get(parent.id) ?? 0)));
    expect(total.amount).toBe(wideText(wide(sum(fills.map(({ amount }) => units(amount))))));
    expect(total.fees).toBe(wideText(wide(sum(fills.map((fill) => units(fill.fees))))));
    expect(total.costs).toMatchObject(costsText(costs));
    // The identity, once more on what the report itself says.
    const { delay, trading, opportunity, fees, total: shortfall, timing, execution } = total.costs;
    expect(sum([delay, trading, opportunity, fees].map(exact))).toBe(exact(shortfall));
    expect(exact(timing) + exact(execution)).toBe(exact(trading));
  }
}

/** A decimal of any length up to forty decimals, in 1e-40. */
function exact(text: string): bigint {
  const [, sign = '', whole = '', after = ''] = /^(-?)(\d+)(?:\.(\d{0,40}))?$/u.exec(text) ?? [];
  return BigInt(`${sign}${whole}${after.padEnd(40, '0')}`);
}

/** `amount / quantity` to twelve decimals, halves up: far from a half, as a quotient nearly always is. */
function quotient(paid: bigint, f: bigint): string {
  const scaled = (paid * 10n ** 13n) / f / 10n ** 20n;
  return wideText(((scaled + 5n) / 10n) * 10n ** 28n);
}
const rounded = (text: string, decimals: number): string => {
  const places = text.split('.')[1]?.length ?? 0;
  expect(places).toBeLessThanOrEqual(decimals);
  return text;
};

/** Holds the figures of a portfolio to a plain walk over the fills and the closes. The account began with that much USD. */
export function expectPlainPortfolio(
  report: Report,
  all: readonly StoredRecord[],
  { tapes, usd }: { readonly tapes: readonly Tape[]; readonly usd: string },
): void {
  const prices = new PlainPrices(tapes);
  const [portfolio] = report.portfolios;
  const { course, start, end, targets = {} } = portfolio ?? {};
  if (portfolio === undefined || course === undefined || start === undefined || end === undefined) throw new Error('no portfolio'); // prettier-ignore
  const fills = all.flatMap(({ body }) => (body.kind === 'fill' ? [body] : []));
  const currencies = Object.keys(targets).filter((one) => one !== 'usd');
  const heldAt = (at: number): Map<string, bigint> => {
    const held = new Map([['usd', units(usd)]]);
    const move = (currency: string, by: bigint): unknown =>
      held.set(currency, (held.get(currency) ?? 0n) + by);
    for (const fill of fills.filter(({ executed_at: then }) => then <= at)) {
      const s = fill.side === 'buy' ? 1n : -1n;
      move(fill.base, s * units(fill.quantity));
      move('usd', -s * units(fill.amount) - units(fill.fees));
    }
    return held;
  };
  const valuesAt = (at: number): ReadonlyMap<string, bigint> => {
    const held = heldAt(at);
    return new Map(['usd', ...currencies].map((one) => [one, one === 'usd' ? wide(held.get(one) ?? 0n) : times(held.get(one) ?? 0n, prices.close(`${one}usd`, at) ?? 0n)])); // prettier-ignore
  };
  for (const moment of [start, end]) {
    const values = valuesAt(Date.parse(moment.at));
    const total = sum([...values.values()]);
    expect(moment.value).toBe(wideText(total));
    for (const [currency, value] of values) expect(Number(moment.weights[currency])).toBeCloseTo(Number((value * 10n ** 9n) / total) / 1e9, 5); // prettier-ignore
  }
  expect(portfolio.traded).toBe(wideText(wide(sum(fills.map(({ amount }) => units(amount))))));
  const [number, nine] = [(value: bigint): number => Number(value / 10n ** 20n) / 1e20, (value: number): number => Number(value.toPrecision(9))]; // prettier-ignore
  const points = course.points.map(({ at }) => ({ at: Date.parse(at), values: valuesAt(Date.parse(at)) }));
  const totals = points.map(({ values }) => number(sum([...values.values()])));
  expect(course.points.map(({ value }) => value)).toEqual(totals.map(nine));
  const closes = points.map(({ at }) =>
    currencies.map((one) => number(wide(prices.close(`${one}usd`, at) ?? 0n))),
  );
  const wanted = closes.slice(1).map((now, i) => currencies.reduce((all2, one, k) => all2 + Number(targets[one]) * ((now[k] ?? 0) / (closes[i]?.[k] ?? 1) - 1), 0)); // prettier-ignore
  const own = totals.slice(1).map((value, i) => value / (totals[i] ?? 1) - 1);
  const differences = own.map((value, i) => value - (wanted[i] ?? 0));
  const mean = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0) / of.length;
  const steps = points.slice(1).map(({ at }, i) => (at - (points[i]?.at ?? at)) / course.step_ms);
  const total = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0);
  const middle = total(differences) / total(steps);
  const variance = total(differences.map((one, i) => (one - middle * (steps[i] ?? 0)) ** 2)) / (total(steps) - total(steps.map((one) => one * one)) / total(steps)); // prettier-ignore
  expect(points.at(-1)?.at).toBe(Date.parse(end.at));
  expect(course.return).toBeCloseTo((totals.at(-1) ?? 0) / (totals[0] ?? 1) - 1, 6);
  expect(course.target_return).toBeCloseTo(wanted.reduce((a, b) => a * (1 + b), 1) - 1, 6);
  expect(course.tracking_error).toBeCloseTo(Math.sqrt((variance * 365.25 * 86_400_000) / course.step_ms), 8);
  let [peak, deepest] = [0, 0];
  for (const value of totals) [peak, deepest] = [Math.max(peak, value), Math.max(deepest, 1 - value / Math.max(peak, value))]; // prettier-ignore
  expect(course.drawdown).toBeCloseTo(deepest, 8);
  expect(course.turnover).toBeCloseTo(
    fills.reduce((a, { amount }) => a + Number(amount), 0) / 2 / mean(totals),
    6,
  );
  const drifts = points.map(({ values }, i) => Math.max(...[...values].map(([one, value]) => Math.abs(number(value) / (totals[i] ?? 1) - Number(targets[one] ?? 0))))); // prettier-ignore
  expect(course.drift_mean).toBeCloseTo(mean(drifts), 8);
  expect(course.drift_max).toBeCloseTo(Math.max(...drifts), 8);
  expect(course.outside).toBeCloseTo(drifts.filter((drift) => drift > Number(portfolio.drift_threshold)).length / drifts.length, 8); // prettier-ignore
}
