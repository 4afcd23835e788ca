"""Realised gains of a list of fills, by every method of lots, as plainly as can be.

Reads JSON from stdin: {"fills": [...], "corrections": [...], "method": "fifo"}, oldest first, amounts as text, every pair against usd. Prints
{"gains": {currency: text}, "held": {currency: text}, "cost": {currency: text}}. Written from docs/accounting.md; shares no code with the program.
Lots live in plain lists that are searched anew for each disposal.
"""

import json
import sys
from decimal import ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 80
COST = Decimal(1).scaleb(-12)


def dispose(lots, units, method):
    """Takes units out of lots: gives what they cost."""
    cost = Decimal(0)
    while units > 0:
        if method == "fifo":
            lot = min(lots, key=lambda each: each["at"])
        elif method == "lifo":
            lot = max(lots, key=lambda each: (each["at"], each["n"]))
        elif method == "hifo":
            lot = max(lots, key=lambda each: (each["unit"], each["n"]))
        else:
            lot = lots[0]
        taken = min(units, lot["units"])
        part = lot["cost"]
        if taken != lot["units"]:
            part = (lot["cost"] * (taken / lot["units"])).quantize(COST, ROUND_HALF_EVEN)
        lot["units"] -= taken
        lot["cost"] -= part
        cost += part
        units -= taken
        if lot["units"] == 0:
            lots.remove(lot)
    return cost


def acquire(lots, fill, n, method):
    units, cost = Decimal(fill["quantity"]), Decimal(fill["amount"])
    if method == "average" and lots:
        lots[0]["units"] += units
        lots[0]["cost"] += cost
        return
    lots.append({"at": fill["executed_at"], "n": n, "units": units, "cost": cost, "unit": cost / units})


def main():
    given = json.load(sys.stdin)
    method = given["method"]
    # What the account shows of a fill in the end; here no unit of a corrected lot was sold before.
    shown = {each["client_order_id"]: each for each in given["corrections"]}
    gains, held, cost = {}, {}, {}
    lots = {}
    for n, fill in enumerate(sorted(given["fills"], key=lambda each: each["executed_at"])):
        fill = {**fill, **{k: v for k, v in shown.get(fill["client_order_id"], {}).items() if k in ("quantity", "amount", "fees")}}
        currency = fill["pair"][:-3]
        own = lots.setdefault(currency, [])
        if fill["side"] == "buy":
            acquire(own, fill, n, method)
        else:
            paid = dispose(own, Decimal(fill["quantity"]), method)
            gains[currency] = gains.get(currency, Decimal(0)) + Decimal(fill["amount"]) - paid
    for currency, own in lots.items():
        held[currency] = sum((lot["units"] for lot in own), Decimal(0))
        cost[currency] = sum((lot["cost"] for lot in own), Decimal(0))
    print(json.dumps({"gains": texts(gains), "held": texts(held), "cost": texts(cost)}))


def texts(amounts):
    return {currency: format(amount.normalize(), "f") for currency, amount in amounts.items()}


main()
