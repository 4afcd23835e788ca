"""Recomputes the headline figures of a report from the files that Tranche exports, and from the prices.

Written from docs/backtest.md and docs/report.md; it shares no code with the program and needs only the standard library. Money is
decimal.Decimal. Reads one JSON object from stdin and prints one to stdout.

Input:  {"report": report.json, "fills": fills.csv, "records": `journal export --kind all --format jsonl`, "prices": {pair: csv},
         "strategy": id of the portfolio, "until": ms, "rate": {"annual": text, "grace": minutes, "every": minutes}}
"""

import csv
import json
import statistics
import sys
from bisect import bisect_right
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 60
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
YEAR_DAYS = 365.25
ZERO = Decimal(0)


def ms_of(iso):
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def nine(value):
    return float(f"{float(value):.9g}")


def plain(amount):
    text = f"{amount:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def bps(part, whole):
    return f"{(part * 10_000 / whole).quantize(Decimal('0.0001'), ROUND_HALF_EVEN):f}" if whole else None


given = json.load(sys.stdin)
report = json.load(open(given["report"]))
portfolio = next(one for one in report["portfolios"] if one["strategy"] == given["strategy"])
CASH = portfolio["cash"]
TARGETS = {currency: float(weight) for currency, weight in portfolio["targets"].items()}
ASSETS = [currency for currency in TARGETS if currency != CASH]
UNTIL = given["until"]
known, closes = {}, {}
for pair, file in given["prices"].items():
    rows = list(csv.DictReader(open(file, newline="")))
    bar = int(rows[1]["timestamp_ms"]) - int(rows[0]["timestamp_ms"])
    # A close is known when its bar has ended.
    known[pair] = [int(row["timestamp_ms"]) + bar for row in rows]
    closes[pair] = [Decimal(row["close"]) for row in rows]


def price(currency, at):
    pair = currency + CASH
    return Decimal(1) if currency == CASH else closes[pair][bisect_right(known[pair], at) - 1]


def value_of(held, at):
    return sum((held.get(currency, ZERO) * price(currency, at) for currency in [*ASSETS, CASH]), ZERO)


def signed(side):
    return 1 if side == "buy" else -1


fills = list(csv.DictReader(open(given["fills"], newline="")))
for fill in fills:
    for name in ("quantity", "amount", "fees", "reference_price"):
        fill[name] = Decimal(fill[name])
    fill["ms"] = ms_of(fill["executed_at"])
    fill["base"], fill["quote"] = fill["pair"][:-3], fill["pair"][-3:]
    fill["spread"] = signed(fill["side"]) * (fill["amount"] - fill["quantity"] * fill["reference_price"])


def changes_of(fill):
    """Of the balances: what was bought and paid, fees included."""
    sign = signed(fill["side"])
    return {fill["base"]: sign * fill["quantity"], fill["quote"]: -sign * fill["amount"] - fill["fees"]}


events = []
for line in open(given["records"]):
    record = json.loads(line)
    if record["body"]["kind"] in ("balances", "fill"):
        events.append((record["at"], record["body"]))
by_id = {fill["client_order_id"]: fill for fill in fills}
begin = events[0][0]
held = {currency: Decimal(text) for currency, text in events.pop(0)[1]["balances"].items()}


# Simple interest on what the account owes in cash, from the first fill that borrows: never on interest.
rate, every = Decimal(given["rate"]["annual"]), given["rate"]["every"]
loan = {"owed": ZERO, "due": None, "accrued": ZERO, "charged": ZERO}


def borrow(cash, at):
    if cash < 0 and loan["due"] is None:
        loan["due"] = at + (given["rate"]["grace"] + every) * MINUTE
    loan["owed"] = max(-cash, ZERO)


def charge_until(at):
    while loan["due"] is not None and loan["due"] <= at:
        loan["accrued"] += loan["owed"] * rate * every
        charge = (loan["accrued"] / (365 * 24 * 60)).quantize(Decimal("0.01"), ROUND_DOWN) - loan["charged"]
        loan["charged"] += charge
        held[CASH] -= charge
        loan["due"] += every * MINUTE


# The course: the return of the money between flows, linked.
step = DAY if UNTIL - begin >= 10 * DAY else HOUR
times = [begin, *range((begin // step + 1) * step, UNTIL, step), UNTIL]
flows, values, index, target, hold = [], [], [], [], []
base, growth = value_of(held, begin), 1.0
for number, at in enumerate(times):
    while events and events[0][0] <= at:
        when, body = events.pop(0)
        charge_until(when)
        if body["kind"] == "fill":
            fill = by_id[body["client_order_id"]]
            for currency, change in changes_of(fill).items():
                held[currency] = held.get(currency, ZERO) + change
            borrow(held[CASH], fill["ms"])
            continue
        read = {currency: Decimal(text) for currency, text in body["balances"].items()}
        moved = {c: read.get(c, ZERO) - held.get(c, ZERO) for c in {*read, *held}}
        if any(moved.values()):
            before, amount = value_of(held, when), value_of(moved, when)
            growth *= float(before / base)
            flows.append((when, before, amount))
            held.update(read)
            base = before + amount
    charge_until(at)
    value = value_of(held, at)
    # What is traded at the very start is part of the value at the start.
    growth, base = 1.0 if number == 0 else growth * float(value / base), value
    values.append(value)
    index.append(growth)
    ratio = lambda start: sum(w * float(price(c, at) / price(c, start)) for c, w in TARGETS.items())
    target.append(1.0 if number == 0 else target[-1] * ratio(times[number - 1]))
    hold.append(ratio(begin))


def money_weighted():
    def excess(x):
        later = sum(float(amount) * x ** ((UNTIL - at) / (UNTIL - begin)) for at, _, amount in flows)
        return float(values[0]) * x + later - float(values[-1])

    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low - 1


def performance(series):
    lengths = [b - a for a, b in zip(times, times[1:])]
    returns = [b / a - 1 for a, b, length in zip(series, series[1:], lengths) if length == step]
    peak, deepest = series[0], 0.0
    for each in series:
        peak = max(peak, each)
        deepest = max(deepest, 1 - each / peak)
    a_year, mean, deviation = YEAR_DAYS * DAY / step, statistics.mean(returns), statistics.stdev(returns)
    downside = (sum(min(each, 0) ** 2 for each in returns) / len(returns)) ** 0.5
    cagr = series[-1] ** (YEAR_DAYS * DAY / (UNTIL - begin)) - 1
    return {
        "return": nine(series[-1] - 1),
        "drawdown": nine(deepest),
        "cagr": nine(cagr),
        "volatility": nine(deviation * a_year**0.5),
        "sharpe": nine(mean / deviation * a_year**0.5),
        "sortino": nine(mean / downside * a_year**0.5),
        "calmar": nine(cagr / deepest),
    }


def tracking_error():
    w = [(b - a) / step for a, b in zip(times, times[1:])]
    d = [b / a - t / s for a, b, s, t in zip(index, index[1:], target, target[1:])]
    whole = sum(w)
    mean = sum(d) / whole
    squares = sum((each - weight * mean) ** 2 for each, weight in zip(d, w))
    return (squares / (whole - sum(each**2 for each in w) / whole) * YEAR_DAYS * DAY / step) ** 0.5


def costs_of(parents):
    """Their sizes and times are in the report, what they traded is in fills.csv; the prices are those of these times."""
    sums = dict.fromkeys(("paper", "delay", "trading", "timing", "execution", "opportunity", "fees", "total", "arrived"), ZERO)
    for parent in parents:
        sign, own = signed(parent["side"]), [fill for fill in fills if fill["parent"] == parent["parent"]]
        traded = sum((fill["quantity"] for fill in own), ZERO)
        amount = sum((fill["amount"] for fill in own), ZERO)
        mid = lambda iso: price(parent["pair"][:-3], ms_of(iso))
        decision, arrival = mid(parent["due_at"]), mid(parent["begun_at"])
        planned = traded if parent["open"] else Decimal(parent["planned"])
        decided = {str(one["slice"]): mid(one["decided_at"]) for one in parent["slices"]}
        at_slices = sum((fill["quantity"] * decided[fill["slice"]] for fill in own), ZERO)
        end = mid(parent["window"]["until"])
        parts = {
            "paper": planned * decision,
            "delay": sign * planned * (arrival - decision),
            "trading": sign * (amount - traded * arrival),
            "timing": sign * (at_slices - traded * arrival),
            "execution": sign * (amount - at_slices),
            "opportunity": sign * (planned - traded) * (end - arrival),
            "fees": sum((fill["fees"] for fill in own), ZERO),
            "total": sign * (amount - traded * decision) + sign * (planned - traded) * (end - decision),
            "arrived": traded * arrival,
        }
        parts["total"] += parts["fees"]
        for name, part in parts.items():
            sums[name] += part
    return sums


def group_of(group):
    sums = costs_of([one for one in report["parents"] if all(one[key] == group[key] for key in ("strategy", "pair", "side"))])
    own = [fill for fill in fills if all(fill[key] == group[key] for key in ("strategy", "pair", "side"))]
    parts = {name: plain(part) for name, part in sums.items() if name != "arrived"}
    return {
        **parts,
        "bps": bps(sums["total"], sums["paper"]),
        "slippage": bps(sums["trading"], sums["arrived"]),
        "half_spread": bps(sum(fill["spread"] for fill in own), sum(fill["quantity"] * fill["reference_price"] for fill in own)),
    }


own = sum((fill["amount"] for fill in fills if fill["strategy"] == given["strategy"]), ZERO)
mean_value = sum(map(float, values)) / len(values)
json.dump(
    {
        "value": plain(values[-1].quantize(Decimal("0.01"), ROUND_HALF_EVEN)),
        "worth": plain(values[-1]),
        "points": [[nine(each) for each in row] for row in zip(values, index, target, hold)],
        "cash_flows": [[at, nine(value), nine(amount)] for at, value, amount in flows],
        "return": nine(index[-1] - 1),
        "money_weighted_return": nine(money_weighted()),
        "turnover": nine(float(own) / 2 / mean_value),
        "tracking_error": nine(tracking_error()),
        "tearsheet": {"portfolio": performance(index), "buy_and_hold": performance(hold), "targets_held": performance(target)},
        "paid": {
            **{name: plain(sum((fill[name] for fill in fills if fill["ms"] > begin), ZERO)) for name in ("spread", "fees")},
            "interest": plain(loan["charged"]),
        },
        "groups": [group_of(group) for group in report["groups"]],
    },
    sys.stdout,
)
