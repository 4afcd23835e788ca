"""Recomputes backtests from their inputs alone: bars, one strategy, the settings of the model.

Written from docs/backtest.md, docs/report.md and docs/strategies/*.md; it shares no code with the program. Money is
decimal.Decimal, statistics are numpy. Reads one JSON object from stdin and prints one to stdout.

Input:  {"strategy": {...}, "bars": {pair: csv file}, "holdings": {currency: text},
         "model": {"half_spread_bps": n, "impact_bps": n}}
Output: {"fills": [...], "course": {...} or null}
"""

import csv
import json
import re
import sys
from bisect import bisect_right
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, getcontext

import numpy as np

getcontext().prec = 60
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
YEAR_DAYS = 365.25
CENT, SATOSHI = Decimal("0.01"), Decimal("0.00000001")


def iso_ms(text):
    return int(np.datetime64(text.replace("Z", "")).astype("datetime64[ms]").astype(int))


def duration_ms(text):
    match = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return days * DAY + hours * HOUR + minutes * MINUTE + seconds * 1000


class Market:
    """Closes of bars: each is known when its bar has ended."""

    def __init__(self, files):
        self.known, self.close, ends = {}, {}, []
        for pair, file in files.items():
            with open(file, newline="") as source:
                rows = list(csv.DictReader(source))
            starts = [int(row["timestamp_ms"]) for row in rows]
            bar = min(b - a for a, b in zip(starts, starts[1:]))
            self.known[pair] = [start + bar for start in starts]
            self.close[pair] = [Decimal(row["close"]) for row in rows]
            # The last close holds for one bar more.
            ends.append(self.known[pair][-1] + bar)
        self.begin = max(times[0] for times in self.known.values())
        self.end = min(ends)

    def mid(self, pair, at):
        return self.close[pair][bisect_right(self.known[pair], at) - 1]

    def instants(self):
        return sorted({at for times in self.known.values() for at in times if self.begin <= at <= self.end})


def digit_of(price):
    """The last digit of a price in cash: cents, or as many decimals as leave six digits."""
    return min(CENT, Decimal(1).scaleb(price.adjusted() - 5))


class Account:
    """Trades at quotes of the model, in the balances of one account."""

    def __init__(self, market, holdings, model):
        self.market, self.model = market, model
        self.held = {currency: Decimal(amount) for currency, amount in holdings.items()}
        self.fills = []

    def trade(self, at, pair, side, parent, quantity=None, amount=None):
        """One order: of a quantity of base currency, or of an amount of cash."""
        mid = self.market.mid(pair, at)
        sign = 1 if side == "buy" else -1
        worth = amount if quantity is None else quantity * mid
        impact = Decimal(self.model["impact_bps"]) * (worth / 1_000_000).sqrt()
        bps = Decimal(self.model["half_spread_bps"]) + impact
        against = ROUND_CEILING if side == "buy" else ROUND_FLOOR
        price = mid * (1 + sign * bps / 10_000)
        price = price.quantize(digit_of(price), against)
        if quantity is None:
            quantity = (amount / price).quantize(SATOSHI, ROUND_FLOOR if side == "buy" else ROUND_CEILING)
        else:
            amount = (quantity * price).quantize(CENT, against)
        base, quote = pair[:-3], pair[-3:]
        self.held[base] = self.held.get(base, Decimal(0)) + sign * quantity
        self.held[quote] -= sign * amount
        fill = dict(at=at, pair=pair, side=side, quantity=quantity, price=price, amount=amount, mid=mid, parent=parent)
        self.fills.append(fill)


# Strategies


def run_twap(strategy, market, account):
    total = Decimal(strategy["total_quantity"]["amount"])
    n, length = strategy["slices"], duration_ms(strategy["duration"])
    start = iso_ms(strategy["start_time"])
    each = (total / n).quantize(SATOSHI, ROUND_FLOOR)
    for k in range(n):
        quantity = each if k < n - 1 else total - each * (n - 1)
        account.trade(start + k * length // n, strategy["pair"], strategy["side"], "all", quantity=quantity)


def times_of(cron, begin, end):
    """The instants of `minute hour * * weekday` in UTC."""
    minute, hour, _, _, weekday = cron.split()
    day = begin // DAY * DAY
    while day < end:
        at = day + int(hour) * HOUR + int(minute) * MINUTE
        # The first of January 1970 was a Thursday.
        is_day = weekday == "*" or (at // DAY + 4) % 7 == int(weekday)
        if is_day and begin <= at < end:
            yield at
        day += DAY


def run_recurring(strategy, market, account):
    amount = Decimal(strategy["each_notional"]["amount"])
    for at in times_of(strategy["schedule"]["cron"], market.begin, market.end):
        account.trade(at, strategy["pair"], strategy["side"], str(at), amount=amount)


class Portfolio:
    def __init__(self, strategy):
        self.cash = strategy["cash"]
        self.targets = {currency: Decimal(weight) for currency, weight in strategy["target_weights"].items()}
        self.assets = [currency for currency in self.targets if currency != self.cash]
        self.threshold = Decimal(strategy["drift_threshold"])

    def worths(self, held, mid):
        worths = {currency: held.get(currency, Decimal(0)) * mid(currency + self.cash) for currency in self.assets}
        worths[self.cash] = held.get(self.cash, Decimal(0))
        return worths

    def drift(self, worths):
        value = sum(worths.values())
        return max(abs(worths[currency] / value - target) for currency, target in self.targets.items())

    def rebalance(self, at, market, account):
        """Back to the targets, sells before buys and the largest first. Whether it was outside its band."""
        worths = self.worths(account.held, lambda pair: market.mid(pair, at))
        if self.drift(worths) <= self.threshold:
            return False
        value = sum(worths.values())
        trades = []
        for currency in self.assets:
            pair = currency + self.cash
            excess = worths[currency] - self.targets[currency] * value
            quantity = (abs(excess) / market.mid(pair, at)).quantize(SATOSHI, ROUND_FLOOR)
            if quantity * market.mid(pair, at) >= 10:
                trades.append((pair, "sell" if excess > 0 else "buy", quantity))
        trades.sort(key=lambda trade: -trade[2] * market.mid(trade[0], at))
        for side in ("sell", "buy"):
            for pair, own, quantity in trades:
                if own == side:
                    account.trade(at, pair, side, f"{at} {pair}", quantity=quantity)
        return True


def run_rebalance(strategy, market, account):
    portfolio = Portfolio(strategy)
    if "schedule" in strategy:
        for at in times_of(strategy["schedule"]["cron"], market.begin, market.end):
            portfolio.rebalance(at, market, account)
        return
    rest, not_before = duration_ms(strategy["min_interval"]), market.begin
    for at in market.instants():
        if not_before <= at < market.end and portfolio.rebalance(at, market, account):
            not_before = at + rest


def plain(amount):
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# The course of a portfolio


def nine(value):
    return float(f"{float(value):.9g}")


def course_of(strategy, market, holdings, fills):
    portfolio = Portfolio(strategy)
    begin, end = market.begin, market.end
    step = DAY if end - begin >= 10 * DAY else HOUR
    # Days and hours end when they do in UTC: the first and the last step may be shorter.
    points = [begin] + list(range((begin // step + 1) * step, end, step)) + [end]
    steps = [(b - a) / step for a, b in zip(points, points[1:])]
    held = {currency: Decimal(amount) for currency, amount in holdings.items()}
    rest = sorted(fills, key=lambda fill: fill["at"])
    values, drifts, worths = [], [], []
    for at in points:
        while rest and rest[0]["at"] <= at:
            fill = rest.pop(0)
            sign = 1 if fill["side"] == "buy" else -1
            base, quote = fill["pair"][:-3], fill["pair"][-3:]
            held[base] = held.get(base, Decimal(0)) + sign * fill["quantity"]
            held[quote] -= sign * fill["amount"]
        worth = portfolio.worths(held, lambda pair: market.mid(pair, at))
        worths.append(worth)
        values.append(sum(worth.values()))
        drifts.append(float(portfolio.drift(worth)))
    index = [float(value / values[0]) for value in values]
    mids = {currency: [float(market.mid(currency + portfolio.cash, at)) for at in points] for currency in portfolio.assets}
    weights = {currency: float(weight) for currency, weight in portfolio.targets.items()}
    target = [1.0]
    for i in range(1, len(points)):
        target.append(target[-1] * (weights[portfolio.cash] + sum(weights[c] * mids[c][i] / mids[c][i - 1] for c in mids)))
    a_year = YEAR_DAYS * DAY / step
    return {
        "drift_mean": nine(np.mean(drifts)),
        "drift_max": nine(max(drifts)),
        "outside": nine(np.mean([drift > float(portfolio.threshold) for drift in drifts])),
        "since_built": since_built(points, drifts, float(portfolio.threshold), index, target, steps, a_year),
        "gap": gap_of(portfolio, market, fills, points=points, worths=worths, built=first_inside(drifts, portfolio)),
        "gains": gains_of(portfolio, after(fills, begin), worths[0], worths[-1]),
        "at_costs": [
            {"times": times, "sum": plain(values[-1] - (times - 1) * sum(cost_of(fill) for fill in after(fills, begin)))}
            for times in range(3)
        ],
        "values": [nine(value) for value in values],
    }


def after(fills, begin):
    return [fill for fill in fills if fill["at"] > begin]


def cost_of(fill):
    """What a fill cost beyond the middle price that was seen before it."""
    sign = 1 if fill["side"] == "buy" else -1
    return sign * (fill["amount"] - fill["quantity"] * fill["mid"])


def first_inside(drifts, portfolio):
    inside = [i for i, drift in enumerate(drifts) if drift <= float(portfolio.threshold)]
    return inside[0] if inside else None


def since_built(points, drifts, threshold, index, target, steps, a_year):
    inside = [i for i, drift in enumerate(drifts) if drift <= threshold]
    if not inside:
        return None
    first = inside[0]
    own = drifts[first:]
    error = {}
    if len(steps) - first >= 10:
        error["tracking_error"] = nine(tracking_error(index[first:], target[first:], steps[first:], a_year))
    return {
        "at": iso_of(points[first]),
        "drift_mean": nine(np.mean(own)),
        "drift_max": nine(max(own)),
        "outside": nine(np.mean([drift > threshold for drift in own])),
        **error,
    }


def iso_of(ms):
    return f"{np.datetime64(ms, 'ms')}Z"


def gains_of(portfolio, fills, start, end):
    """What each currency brought in: its worth at the end, less that at the start and what was put into it."""
    put = {currency: Decimal(0) for currency in end}
    for fill in fills:
        sign = 1 if fill["side"] == "buy" else -1
        put[fill["pair"][:-3]] += sign * fill["amount"]
        put[portfolio.cash] -= sign * fill["amount"]
    gains = {currency: end[currency] - start[currency] - put[currency] for currency in end}
    whole = sum(gains.values())
    assert whole == sum(end.values()) - sum(start.values())
    return [
        {
            "currency": currency,
            "start": plain(start[currency]),
            "traded": plain(put[currency]),
            "flows": "0",
            "end": plain(end[currency]),
            "gain": plain(gains[currency]),
            "share": float((gains[currency] / whole).quantize(Decimal("0.000001"), ROUND_HALF_EVEN)),
        }
        for currency in end
    ]


def gap_of(portfolio, market, fills, points, worths, built):
    """Each step from what was held in it, and not from the difference that it explains; in exact decimals until the end."""
    weights = portfolio.targets
    values = [sum(worth.values()) for worth in worths]
    mid = lambda currency, at: Decimal(1) if currency == portfolio.cash else market.mid(currency + portfolio.cash, at)
    growth = [
        sum(weight * mid(c, now) / mid(c, before) for c, weight in weights.items()) for before, now in zip(points, points[1:])
    ]
    # What is made or lost in a step grows with the targets until the end.
    onward = [Decimal(1)]
    for factor in reversed(growth[1:]):
        onward.append(onward[-1] * factor)
    onward.reverse()
    parts = {"trading": Decimal(0), "build_up": Decimal(0), "drift": Decimal(0)}
    for i, (before, now) in enumerate(zip(points, points[1:])):
        own = [fill for fill in fills if before < fill["at"] <= now]
        parts["trading"] -= sum(cost_of(fill) for fill in own) * onward[i]
        # Weights away from their targets, times returns; of what was traded from the price of its time on.
        moved = sum(
            (worths[i][c] - weight * values[i]) * (mid(c, now) / mid(c, before) - 1) for c, weight in weights.items()
        )
        for fill in own:
            sign = 1 if fill["side"] == "buy" else -1
            moved += sign * fill["quantity"] * (market.mid(fill["pair"], now) - fill["mid"])
        is_building = built is None or i < built
        parts["build_up" if is_building else "drift"] += moved * onward[i]
    total = values[-1] - values[0] * onward[0] * growth[0]
    assert abs(total - sum(parts.values())) < Decimal("1e-20")
    cents = {name: part.quantize(CENT, ROUND_HALF_EVEN) for name, part in parts.items()}
    total = total.quantize(CENT, ROUND_HALF_EVEN)
    rest = "drift" if abs(parts["drift"]) >= abs(parts["build_up"]) else "build_up"
    cents[rest] = total - sum(part for name, part in cents.items() if name != rest)
    return {"total": plain(total), "fees": "0", "interest": "0", **{name: plain(part) for name, part in cents.items()}}


def tracking_error(index, target, steps, a_year):
    index, target, w = np.array(index), np.array(target), np.array(steps)
    d = (index[1:] / index[:-1]) - (target[1:] / target[:-1])
    total = w.sum()
    mean = d.sum() / total
    return np.sqrt(((d - w * mean) ** 2).sum() / (total - (w**2).sum() / total) * a_year)


def main():
    given = json.load(sys.stdin)
    strategy = given["strategy"]
    market = Market(given["bars"])
    account = Account(market, given["holdings"], given["model"])
    run = {"twap": run_twap, "recurring": run_recurring, "rebalance": run_rebalance}[strategy["kind"]]
    run(strategy, market, account)
    fills = account.fills
    is_portfolio = strategy["kind"] == "rebalance"
    json.dump(
        {
            "fills": [
                [fill["at"], fill["pair"], fill["side"], plain(fill["quantity"]), plain(fill["price"]), plain(fill["amount"])]
                for fill in fills
            ],
            "course": course_of(strategy, market, given["holdings"], fills) if is_portfolio else None,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
