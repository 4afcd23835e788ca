"""Realised gains of a year of events, by every method of lots, as plainly as can be.

Reads JSON from stdin: {"events": [...], "method": "fifo"}, in the order in which they were booked, amounts as text, every pair against usd. An event has
`what`: opening, fill, correction, deposit, withdrawal or credit. Prints {"gains": {currency: text}, "held": {currency: text}, "cost": {currency: text}}.
Written from docs/accounting.md; shares no code with the program. Lots live in plain lists that are searched anew for each disposal; share pooling looks ahead
over whole days.
"""

import json
import sys
from datetime import datetime, timezone
from decimal import ROUND_HALF_EVEN, Decimal, getcontext
from zoneinfo import ZoneInfo

getcontext().prec = 80
COST = Decimal(1).scaleb(-12)


def part_of(cost, units, whole):
    if units == whole:
        return cost
    return (cost * (units / whole)).quantize(COST, ROUND_HALF_EVEN)


class Lots:
    """The lots of one currency."""

    def __init__(self, method):
        self.method = method
        self.lots = []
        self.gain = Decimal(0)
        self.count = 0

    def acquire(self, name, at, units, cost):
        self.count += 1
        if self.method == "average" and self.lots:
            self.lots[0]["units"] += units
            self.lots[0]["cost"] += cost
            return
        lot = {"name": name, "at": at, "n": self.count, "units": units, "cost": cost, "unit": cost / units, "whole": units, "paid": cost}
        self.lots.append(lot)

    def take(self, units):
        """Takes units out of lots: gives what they cost."""
        cost = Decimal(0)
        while units > 0:
            if self.method == "fifo":
                lot = min(self.lots, key=lambda each: (each["at"], each["n"]))
            elif self.method == "lifo":
                lot = max(self.lots, key=lambda each: (each["at"], each["n"]))
            elif self.method == "hifo":
                lot = max(self.lots, key=lambda each: (each["unit"], each["n"]))
            else:
                lot = self.lots[0]
            taken = min(units, lot["units"])
            cost += self.reduce(lot, taken)
            units -= taken
        return cost

    def reduce(self, lot, taken):
        part = part_of(lot["cost"], taken, lot["units"])
        lot["units"] -= taken
        lot["cost"] -= part
        if lot["units"] == 0:
            self.lots.remove(lot)
        return part

    def dispose(self, at, units, proceeds):
        self.gain += proceeds - self.take(units)

    def leave(self, at, units):
        self.take(units)

    def correct(self, at, bought, units, cost):
        """A purchase was another: what was sold of it is sold again, at its new cost."""
        if self.method == "average":
            self.lots[0]["units"] += units - bought["units"]
            self.lots[0]["cost"] += cost - bought["cost"]
            return
        left = [lot for lot in self.lots if lot["name"] == bought["name"]]
        sold = bought["units"] - sum((lot["units"] for lot in left), Decimal(0))
        paid = bought["cost"] - sum((lot["cost"] for lot in left), Decimal(0))
        for lot in left:
            self.lots.remove(lot)
        self.acquire(bought["name"], bought["at"], units, cost)
        if sold > 0:
            self.gain += paid - self.reduce(self.lots[-1], sold)

    def result(self):
        return self.gain, sum((lot["units"] for lot in self.lots), Decimal(0)), sum((lot["cost"] for lot in self.lots), Decimal(0))


class Pool:
    """Share pooling of one currency: whole days in London, with what is known of later ones."""

    def __init__(self):
        self.days = {}
        self.zone = ZoneInfo("Europe/London")

    def on(self, at):
        day = datetime.fromtimestamp(at / 1000, timezone.utc).astimezone(self.zone).date().toordinal()
        return self.days.setdefault(day, {"bought": Decimal(0), "cost": Decimal(0), "sold": Decimal(0), "proceeds": Decimal(0), "moved": Decimal(0), "moved_cost": Decimal(0), "steps": []})

    def acquire(self, name, at, units, cost, is_transfer=False):
        day = self.on(at)
        day["steps"].append((units, cost))
        if is_transfer:
            day["moved"] += units
            day["moved_cost"] += cost
        else:
            day["bought"] += units
            day["cost"] += cost

    def dispose(self, at, units, proceeds):
        day = self.on(at)
        day["steps"].append((-units, None))
        day["sold"] += units
        day["proceeds"] += proceeds

    def leave(self, at, units):
        """What leaves takes the average cost of that moment along, as the books have it then."""
        today = self.on(at)
        before = {day: each for day, each in self.days.items() if each is not today}
        _, held, cost = pooled(before)
        for change, value in today["steps"] + [(-units, None)]:
            step = value if value is not None else -part_of(cost, -change, held)
            held += change
            cost += step
        today["steps"].append((-units, None))
        today["moved"] -= units
        today["moved_cost"] += step

    def correct(self, at, bought, units, cost):
        # On the day of the trade it counts as if the trade had been so, later as a purchase of that day.
        self.acquire(bought["name"], at, units - bought["units"], cost - bought["cost"])

    def result(self):
        return pooled(self.days)


def pooled(days):
    """Gain of all disposals, and units and cost of the pool."""
    days = {day: dict(each) for day, each in sorted(days.items())}
    gain = sum((each["proceeds"] for each in days.values()), Decimal(0))

    def match(sale, purchase):
        nonlocal gain
        taken = min(sale["sold"], purchase["bought"])
        if taken <= 0:
            return
        part = part_of(purchase["cost"], taken, purchase["bought"])
        sale["sold"] -= taken
        purchase["bought"] -= taken
        purchase["cost"] -= part
        gain -= part

    for each in days.values():
        match(each, each)
    for day, sale in days.items():
        for other, purchase in days.items():
            if day < other <= day + 30:
                match(sale, purchase)
    units, cost = Decimal(0), Decimal(0)
    for each in days.values():
        units += each["bought"] + each["moved"]
        cost += each["cost"] + each["moved_cost"]
        if each["sold"]:
            part = part_of(cost, each["sold"], units)
            units -= each["sold"]
            cost -= part
            gain -= part
    return gain, units, cost


def main():
    given = json.load(sys.stdin)
    method = given["method"]
    holdings, bought = {}, {}

    def of(currency):
        if currency not in holdings:
            holdings[currency] = Pool() if method == "pool" else Lots(method)
        return holdings[currency]

    def transfer(own, name, at, units, cost):
        if method == "pool":
            own.acquire(name, at, units, cost, is_transfer=True)
        else:
            own.acquire(name, at, units, cost)

    for event in given["events"]:
        what, at, name = event["what"], event["at"], event["id"]
        own = of(event["currency"])
        units, value = Decimal(event["quantity"]), Decimal(event["value"])
        if what in ("opening", "deposit"):
            # Of pooling the day on which it comes counts, of lots the day of its purchase.
            transfer(own, name, at if method == "pool" else event["acquired"], units, value)
        elif what == "credit":
            own.acquire(name, at, units, value)
        elif what == "withdrawal":
            own.leave(at, units)
            own.dispose(at, Decimal(event["fee"]), value)
        elif what == "correction":
            before = bought[name]
            own.correct(at, before, units, value)
            bought[name] = {**before, "units": units, "cost": value}
        elif event["side"] == "buy":
            own.acquire(name, at, units, value)
            bought[name] = {"name": name, "at": at, "units": units, "cost": value}
        else:
            own.dispose(at, units, value)

    results = {currency: own.result() for currency, own in holdings.items()}
    print(json.dumps({name: texts({currency: result[n] for currency, result in results.items()}) for n, name in enumerate(("gains", "held", "cost"))}))


def texts(amounts):
    return {currency: format(amount.normalize(), "f") for currency, amount in amounts.items() if amount}


main()
