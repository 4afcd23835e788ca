import type { Alert } from '../../src/core/alerts.ts';

/** One way in which things can go wrong, the tests that hold the answer to it, and how an operator hears of it. */
export interface Mode {
  /** Number in the catalogue; stable. */
  readonly row: number;
  readonly what: string;
  /** File and name of each test. None: nobody has shown yet that the answer holds. */
  readonly tests: readonly (readonly [file: string, name: string])[];
  /** What is raised; or, in words, why an alert makes no sense and what tells the operator instead. */
  readonly alert: Alert | { readonly none: string };
}

export const steps: readonly (readonly [title: string, first: number])[] = [
  ['Start and recovery', 1],
  ['Planning a slice', 16],
  ['Writing records', 23],
  ['Waiting for the limits of the venue', 30],
  ['Asking for a quote', 36],
  ['Judging the quote', 45],
  ['The gate and the order', 54],
  ['The answer and its record', 66],
  ['Reading the account', 71],
  ['Position and time', 79],
  ['Everywhere', 85],
];

const engine = (name: string): string => `test/engine/${name}.test.ts`;
const core = (name: string): string => `test/core/${name}.test.ts`;
const journal = (name: string): string => `test/journal/${name}.test.ts`;
const app = (name: string): string => `test/app/${name}.test.ts`;
const venue = (name: string): string => `test/venue/${name}.test.ts`;
const system = (name: string): string => `test/system/${name}.slow.test.ts`;

const REFUSED = 'refused at the start';
const NO_TRADE = 'nothing is traded; the reason stands in the journal and in `tranche_attempts_total`';

const SIGKILL = [system('sigkill'), 'at every boundary of its effects, once and again while it recovers, executes once and loses no fill'] as const; // prettier-ignore
const APPENDS = [engine('crash'), 'never executes twice and loses no fill, whichever append it dies at, the records being %s'] as const; // prettier-ignore
const DISK = [system('disk-full'), 'ends with exit 74, sends nothing that is not written down, and goes on once there is room${skipped}'] as const; // prettier-ignore
const DOUBT = [engine('doubts'), 'is a doubt until the account proves otherwise: %s'] as const;
const DISCARDED = [core('answer'), '%s is discarded, to be asked for again'] as const;

/** All ways that the catalogue names, in its order. */
// prettier-ignore
export const modes: readonly Mode[] = [
  // Start and recovery
  { row: 1, what: 'a second daemon opens the same journal', alert: { none: `${REFUSED}: exit 75 names the owner` },
    tests: [[journal('process'), 'is refused to a second writer, stays readable, and is free and whole at once after kill -9'], [system('drain'), 'ends with exit 75 and names the process that has it; the first trades on']] },
  { row: 2, what: 'a second daemon trades the same account from another journal', alert: 'fill_adopted',
    tests: [[engine('restart'), 'is told all fills when it was lost, and the desk stays halted'], [engine('figures'), 'halts the desk with the read that shows it'], [core('doubts'), 'is adopted when no record names it']] },
  { row: 3, what: 'the last record was half written when the process died', alert: { none: 'repaired: what was not synced was never acted on' },
    tests: [[journal('flips'), 'is never taken in silence for another content: one in many, in %s'], APPENDS] },
  { row: 4, what: 'damage in the middle of the journal', alert: { none: `${REFUSED}: exit 65 names the record` },
    tests: [[journal('sqlite'), 'is refused with any byte of its records flipped on the disk'], [journal('chain'), 'names the record whose text, time, kind or hash has one character changed, wherever it is']] },
  { row: 5, what: 'the journal is gone, the venue knows our trades', alert: 'fill_adopted',
    tests: [[engine('restart'), 'is told all fills when it was lost, and the desk stays halted'], [journal('anchor'), 'tells a journal that is gone from one that is new']] },
  { row: 6, what: 'the journal is an older copy of itself', alert: 'journal_rolled_back',
    tests: [[engine('oddity'), 'halts the desk before its first quote when it has been rolled back, and says how to go on'], [engine('restart'), 'and was rolled back, adopting fills: %s']] },
  { row: 7, what: 'a dead process left orders open', alert: 'doubt_open',
    tests: [APPENDS, [engine('gate'), 'is absent only after the longest life of a quote, the margin, and two clean reads']] },
  { row: 8, what: 'the config is broken, or says something that cannot be meant', alert: { none: `${REFUSED}: exit 78 shows the place and the fix` },
    tests: [[app('mistakes'), 'in a config is explained with place and fix: %s'], [app('yaml'), 'never throws, whatever the text']] },
  { row: 9, what: 'the token is missing, readable by others, or not a token', alert: { none: `${REFUSED}: exit 78 says why, without the token` },
    tests: [[app('credential'), 'is refused in mode %o'], [app('credential'), 'is not %s, and that is said without showing it']] },
  { row: 10, what: 'the clock of the machine is far off', alert: 'clock_skew',
    tests: [[engine('skew'), 'does not start by %i ms, and asks for no quote'], [engine('skew'), 'says so again when the difference comes back']] },
  { row: 11, what: 'the process dies again and again', alert: 'crash_loop',
    tests: [[engine('crash-loop'), 'starts halted after five deaths within ten minutes, and trades no more']] },
  { row: 12, what: 'the disk is full or read-only at the start', alert: { none: `${REFUSED}: exit 74, before anything is asked of the venue` },
    tests: [[journal('disk'), 'is not opened where there is no room for the reserve: storage, and nothing is left of it'], [system('mistakes'), 'ends with exit 74 when the folder of its journal may not be written']] },
  { row: 13, what: 'an older program opens a newer journal', alert: { none: `${REFUSED}: exit 65` },
    tests: [[journal('sqlite'), 'is refused when a newer version wrote it'], [journal('chain'), 'tells a record of another version from damage']] },
  { row: 14, what: 'the venue cannot be reached', alert: 'venue_unreachable',
    tests: [[system('outage'), 'at the start and again in the middle is waited for, and everything is traded once'], [system('mistakes'), 'keeps trying while the venue is down at the start, says so, and trades once it is up']] },
  { row: 15, what: 'the journal belongs to another account or address', alert: { none: `${REFUSED}: exit 78 says how to go on` },
    tests: [[engine('restart'), 'refuses the journal of another account before any call, unless told that it is the same']] },
  // Planning a slice
  { row: 16, what: 'slices do not add up to the total', alert: { none: 'cannot happen; what stays undone is in the note of the last wake' },
    tests: [['test/strategy/slicing.test.ts', 'adds up to the total exactly, in whole units, none below nothing, with jitter and without']] },
  { row: 17, what: 'binary fractions get into an amount', alert: { none: 'cannot happen: no amount is ever a number' },
    tests: [[core('money'), 'comes back the same through a body of the wire, 100 000 times'], [journal('round-trip'), 'survives wire, journal, export and wire byte for byte: ${FILLS * RUNS * AMOUNTS} random ones do']] },
  { row: 18, what: 'slots pass while nothing runs', alert: { none: 'the wake of the journal lists the slots as `missed_slot`' },
    tests: [['test/strategy/twap.test.ts', 'asks for at most one slice a gap, each once, in order, none above half again its plan, all within the total'], [engine('restart'), 'goes on at the right slot after a downtime and spreads what was missed']] },
  { row: 19, what: 'a day that skips or repeats an hour', alert: { none: 'nothing goes wrong' },
    tests: [['test/strategy/schedule.test.ts', 'in %s at %s runs once, right after the gap, on the day that skips its hour'], ['test/strategy/schedule.test.ts', 'in %s at %s runs once, the first time, on the day that repeats its hour']] },
  { row: 20, what: 'a strategy is edited while it runs', alert: { none: 'nothing is read again while it runs; the next start refuses: exit 78' },
    tests: [[engine('restart'), 'refuses a strategy that was edited while it runs']] },
  { row: 21, what: 'the same parent is submitted twice', alert: { none: 'content that has finished in a journal says so and does not run again' },
    tests: [[core('ids'), 'has a parent that depends on every part of its name, and on where one part ends'], [engine('restart'), 'never trades what was traded, rearmed after %i ms']] },
  { row: 22, what: 'the end of the window has passed', alert: { none: 'the strategy ends with `window_over` and says what is undone' },
    tests: [['test/strategy/twap.test.ts', 'trades nothing any more once the window is over']] },
  // Writing records
  { row: 23, what: 'the disk refuses a write', alert: 'disk_full',
    tests: [DISK, [engine('oddity'), 'writes down what was under way, begins nothing, and ends with 74, whichever append it happens at'], [journal('disk'), 'outlives %s at any step of an append with what was set aside, and says that it is spent']] },
  { row: 24, what: 'a flush to the disk fails', alert: { none: 'the journal takes nothing more: exit 74, and the next start reads it anew' },
    tests: [[journal('disk'), 'is poisoned by %s with %i bytes set aside, at any step, and holds what it acknowledged']] },
  { row: 25, what: 'a flush takes seconds', alert: { none: NO_TRADE },
    tests: [[engine('endurance'), 'lets no order leave for a quote that has no life left for it, and the quote is judged after the wait']] },
  { row: 26, what: 'death before, during or after a write', alert: { none: 'recovered by the next start' },
    tests: [APPENDS, SIGKILL] },
  { row: 27, what: 'a rotated file gets lost', alert: { none: 'nothing is rotated: the journal is one file' },
    tests: [[journal('sqlite'), 'gives back its records and its head after it was closed, and goes on from there']] },
  { row: 28, what: 'the database does not keep what it says it keeps', alert: { none: `${REFUSED}: exit 74` },
    tests: [[journal('sqlite'), 'is written ahead and synced in full'], [journal('sqlite'), 'is refused where SQLite cannot write ahead']] },
  { row: 29, what: 'the journal grows for years', alert: { none: '`tranche_journal_records_total` shows it; a million records replay in seconds' },
    tests: [[engine('endurance'), 'keeps nothing of what has ended but ids, and a replay comes to the same']] },
  // Waiting for the limits of the venue
  { row: 30, what: 'a jump of the clock opens a limit', alert: 'discontinuity',
    tests: [[engine('endurance'), 'is not opened by a wall clock that jumps by %i ms']] },
  { row: 31, what: 'a restart opens a limit', alert: { none: 'the start waits limits out and says so' },
    tests: [[engine('crash-loop'), 'keeps to the limits of the venue through a hundred starts, halted or not'], [engine('restart'), 'holds every limit back when the process before it died']] },
  { row: 32, what: 'several programs share the token', alert: { none: '`pacing.quote_share` is set by the operator' },
    tests: [[app('policy'), 'a share of %s leaves the rest of the limits to other programs with the token, and is never nothing']] },
  { row: 33, what: 'the venue says that it was asked too often', alert: { none: '`tranche_retries_total` and `tranche_quotes_total` show it' },
    tests: [[engine('refusals'), 'with 429 cools the whole route down, for as long as the venue says'], [engine('evidence'), 'is left alone on every route for as long as a 429 says']] },
  { row: 34, what: 'reads that resolve doubts starve', alert: 'account_unreadable',
    tests: [[engine('pacer'), 'serves what is more urgent first, whoever came first'], [engine('pacer'), 'starves nobody of the same priority']] },
  { row: 35, what: 'a halt or an end of time comes while a request waits', alert: { none: NO_TRADE },
    tests: [[engine('gate'), 'lets nothing through once the slice is over'], [engine('pacer'), 'forgets a wish that was taken back']] },
  // Asking for a quote
  { row: 36, what: 'no connection, or no answer', alert: 'no_quotes',
    tests: [[venue('http'), 'never left when nobody listens at the address'], [engine('refusals'), 'is asked again with growing, jittered waits, and trades on when it recovers: %s']] },
  { row: 37, what: 'the venue or a pair is unavailable', alert: 'no_quotes',
    tests: [[engine('refusals'), 'is asked again with growing, jittered waits, and trades on when it recovers: %s'], [engine('refusals'), 'costs the slice once the budget is spent, and the next slice starts with a new one']] },
  { row: 38, what: 'larger than the venue quotes', alert: { none: 'cut to fit; the `maximum` stands in the journal' },
    tests: [[engine('pipeline'), 'cuts what the venue does not quote in one piece into pieces that sum to the slice'], [engine('evidence'), 'is not asked over and over when it finds every size too large']] },
  { row: 39, what: 'the venue does not know the pair', alert: { none: NO_TRADE },
    tests: [[engine('refusals'), 'that the pair is not supported ends the slice after one request']] },
  { row: 40, what: 'the token is refused', alert: { none: 'the desk halts: `tranche_desk_state`, `/readyz`' },
    tests: [[engine('refusals'), 'with %i halts the desk, which a restart does not lift, but a person does']] },
  { row: 41, what: 'an answer that nobody can read', alert: 'no_quotes',
    tests: [[core('answer'), 'that got lost, or cannot be read, is an attempt that failed'], [venue('trading'), 'is garbled when it is %s']] },
  { row: 42, what: 'the venue points elsewhere', alert: { none: 'not followed; counts as a failed attempt' },
    tests: [[venue('http'), 'does not follow a %s']] },
  { row: 43, what: 'a huge, endless or compressed answer', alert: { none: 'cut off at a bound; counts as a failed attempt' },
    tests: [[venue('http'), 'is too large by what arrives, and takes exactly the cap'], [venue('http'), 'ends when the body trickles past the total, though no single pause is long']] },
  { row: 44, what: 'one client id, two different quotes', alert: { none: 'one request an id, and one order a quote' },
    tests: [[venue('http'), 'is made once, whatever happened'], [core('ids'), 'is distinct for every attempt of many slices, parents and desks']] },
  // Judging the quote
  { row: 45, what: 'fields that are missing, wrong or absurd', alert: { none: NO_TRADE },
    tests: [[core('answer'), 'is classified whatever it says, and never throws'], ['test/wire/quote.test.ts', 'is unreadable with %s']] },
  { row: 46, what: 'another pair, side or size than asked for', alert: { none: NO_TRADE }, tests: [DISCARDED] },
  { row: 47, what: 'price times quantity is not the amount', alert: { none: NO_TRADE },
    tests: [[core('answer'), 'for a quantity of a coarse base is held to a cent of the product all the same']] },
  { row: 48, what: 'no price for our side, or two', alert: { none: NO_TRADE }, tests: [['test/wire/quote.test.ts', 'is unreadable with %s']] },
  { row: 49, what: 'a life that is over, too long, too short or unreadable', alert: { none: NO_TRADE },
    tests: [DISCARDED, [engine('refusals'), 'that lives too briefly for an order is not executed']] },
  { row: 50, what: 'our clock and that of the venue disagree', alert: { none: 'no decision compares them' },
    tests: [[engine('skew'), 'decides the very same, whatever the difference is, through doubts and cancels'], [core('cycle'), 'has a quote whose life lies between asking and receiving on our clock'], [engine('evidence'), 'dates a trade by our own clock, so that a stamp from the future does not open the day limit']] },
  { row: 51, what: 'a quote id that came before', alert: { none: NO_TRADE },
    tests: [[engine('refusals'), 'that was told before is not executed twice']] },
  { row: 52, what: 'a price outside the collar, or no price to compare with', alert: { none: NO_TRADE },
    tests: [[engine('refusals'), 'outside the collar is not executed'], [engine('references'), 'that cannot be had stop every trade']] },
  { row: 53, what: 'too little life left for an order', alert: { none: NO_TRADE },
    tests: [[engine('refusals'), 'that was too long on its way is not executed']] },
  // The gate and the order
  { row: 54, what: 'a halt between the intent and the order', alert: 'halted',
    tests: [[engine('halt'), 'lets no order and no quote begin after it, at whatever instant it comes, and what was under way ends: %s'], [engine('refusals'), 'halts the desk between quote and order, and no order leaves']] },
  { row: 55, what: 'the process stands still between check and send', alert: 'discontinuity',
    tests: [[venue('http'), 'carries the first byte in the tick of subscribe'], [engine('discontinuity'), 'sends no order for a quote that had %s, and asks anew']] },
  { row: 56, what: 'the connection is dead before the order is on it', alert: 'doubt_open',
    tests: [[venue('http'), 'is dropped when it is %s'], [venue('http'), 'is made once, whatever happened']] },
  { row: 57, what: 'the answer to an order never comes', alert: 'doubt_open',
    tests: [DOUBT, [system('outage'), 'for ten minutes gets no second order for what it filled, and the parent is complete under its policy']] },
  { row: 58, what: 'an order arrives long after we gave it up', alert: 'doubt_open',
    tests: [[engine('doubts'), 'is not taken for absent before the quote has expired and the venue had time to book']] },
  { row: 59, what: 'an error from a gateway, and the order was executed', alert: 'doubt_open',
    tests: [[core('answer'), 'is in doubt when it %s'], DOUBT] },
  { row: 60, what: 'the second copy is refused because the first one filled', alert: 'doubt_open',
    tests: [[engine('resend'), 'executes once when the first copy had arrived and the second is refused'], [core('cycle'), 'that was cancelled is in doubt until one read a booking margin after the answer']] },
  { row: 61, what: 'death at any instruction around the send', alert: { none: 'recovered by the next start' }, tests: [SIGKILL, APPENDS] },
  { row: 62, what: 'an order with a status that is not final or not known', alert: 'doubt_open',
    tests: [[core('answer'), 'is in doubt when the answer has %s']] },
  { row: 63, what: 'filled for less than the quote', alert: 'fill_differs',
    tests: [[engine('refusals'), 'that differs from its quote is booked as stated and pauses the desk; it halts when the account shows another']] },
  { row: 64, what: 'how to sell is not known', alert: { none: 'selling is off until `venue.sell_path` is set' },
    tests: [[venue('trading'), 'never leaves as a sale while selling is off']] },
  { row: 65, what: 'the venue executes what it must not', alert: 'fill_adopted',
    tests: [[engine('evidence'), 'that comes after a proven absence halts the desk, and the strategy takes it off its total once re-armed'], [core('doubts'), 'is a breach when it was proven not to have traded']] },
  // The answer and its record
  { row: 66, what: 'death between the answer and its record', alert: { none: 'found in the account by the next start' }, tests: [SIGKILL, APPENDS] },
  { row: 67, what: 'the disk is full when a fill is to be written', alert: 'disk_full',
    tests: [DISK, [engine('oddity'), 'writes down what was under way, begins nothing, and ends with 74, whichever append it happens at']] },
  { row: 68, what: 'one fill is told by several sources', alert: { none: 'booked once' },
    tests: [[engine('hints'), 'leaves every fill, price and end of a slice as it is: %s'], [engine('evidence'), 'count an order once whose trade the account shows before its answer comes']] },
  { row: 69, what: 'the account books other figures than the answer told', alert: 'fill_differs',
    tests: [[engine('figures'), 'counts as the account shows it, and both stay in the journal'], [engine('figures'), 'halts the desk when it was another size, and the slice goes on from what was really traded']] },
  { row: 70, what: 'filled, and never booked', alert: 'fill_unbooked',
    tests: [[engine('figures'), 'is told after a minute, pauses the desk, and stays booked']] },
  // Reading the account
  { row: 71, what: 'the read fails', alert: 'account_unreadable',
    tests: [[engine('doubts'), 'keeps its doubt for as long as the account cannot be read']] },
  { row: 72, what: 'rows move between two pages', alert: 'account_unreadable', tests: [[engine('books'), 'is read again from the start when rows were lost between two pages'], [engine('books'), 'has not been read when its pages never fit']] },
  { row: 73, what: 'the read is behind', alert: 'account_hole',
    tests: [[engine('books'), 'ends no doubt by absence while the balances have a hole where the trade could be'], [core('cycle'), 'is in doubt until two reads after the life of the quote and the booking margin'], [engine('evidence'), 'is not believed while less than the whole order is booked']] },
  { row: 74, what: 'one leg of a trade is to be seen', alert: 'doubt_open',
    tests: [[engine('doubts'), 'waits for the second leg when the account shows one'], [core('doubts'), 'never ends a doubt of which one leg is to be seen']] },
  { row: 75, what: 'a trade without an id that could be ours', alert: 'doubt_lookalike',
    tests: [[engine('doubt-alerts'), 'is shown the row that could be the order, once, since only a person can end that doubt'], [engine('evidence'), 'keeps the doubt open when a trade without an id could be the order']] },
  { row: 76, what: 'away for longer than the venue looks back by itself', alert: { none: 'every read says from when' }, tests: [[engine('endurance'), 'asks the account for everything since an hour before what it left open, and finds it']] },
  { row: 77, what: 'the history of the account changes', alert: 'history_changed', tests: [[engine('books'), 'halts when a row has another content than before'], [engine('books'), 'halts when rows that were there stay away, and believes no lag in between']] },
  { row: 78, what: 'the venue never tells', alert: 'doubt_5min',
    tests: [[engine('doubt-alerts'), 'hears of a doubt when it is 15 seconds, a minute and five minutes old, once each'], [core('cycle'), 'has no way out by a timer, a count or a word: only a fill, or reads as they prove'], [engine('resolve'), 'as not executed lets its slice be tried again, and is in the journal before what follows']] },
  // Position and time
  { row: 79, what: 'death while the position is brought up to date', alert: { none: 'there is no position but the records' }, tests: [APPENDS, SIGKILL] },
  { row: 80, what: 'a wait that is longer than a timer can be', alert: { none: 'waits go in hours' },
    tests: [[engine('clock'), 'ends at its instant, in steps that any timer can do'], [engine('pacer'), 'waits for deadlines that are further away than a timer of Node can be']] },
  { row: 81, what: 'the machine sleeps', alert: 'discontinuity',
    tests: [[engine('discontinuity'), 'catches up as its plan says after a sleep of %i ms, whether or not the monotonic clock counted'], [engine('discontinuity'), 'loses no doubt and believes no absence too early when it sleeps while one is open']] },
  { row: 82, what: 'the wall clock steps', alert: 'discontinuity',
    tests: [[engine('discontinuity'), 'breaks once through %s, and is told in figures'], [engine('references'), 'age by the monotonic clock: a wall clock that steps back refreshes nothing']] },
  { row: 83, what: 'timers drift, or all fire at once after a pause', alert: { none: 'slots come from the plan, one slice a gap' },
    tests: [['test/strategy/twap.test.ts', 'asks for at most one slice a gap, each once, in order, none above half again its plan, all within the total']] },
  { row: 84, what: 'an exception that nobody caught', alert: { none: 'the process ends with exit 70; the next start recovers' }, tests: [] },
  // Everywhere
  { row: 85, what: 'a feed with gaps, repetitions, or none at all', alert: 'feed_down',
    tests: [[engine('hints'), 'leaves every fill, price and end of a slice as it is: %s'], [venue('socket-hostile'), 'are all that comes out of a feed that is struck by %s']] },
  { row: 86, what: 'a message that breaks its reader', alert: 'feed_down',
    tests: [[venue('socket-hostile'), 'gives up a connection that sends %s, for a minute at least'], [venue('socket-hostile'), 'quarantines what it cannot read, cut and without its token']] },
  { row: 87, what: 'a record that breaks its reader', alert: { none: `${REFUSED}: exit 65 names the record` },
    tests: [[journal('sqlite'), 'is refused with %s, naming the record'], [journal('commands'), 'prints what is intact, then names the damage: exit 65']] },
  { row: 88, what: 'memory grows over weeks', alert: { none: '`process_resident_memory_bytes` shows it' }, tests: [[engine('endurance'), 'keeps nothing of what has ended but ids, and a replay comes to the same'], [engine('known-ids'), 'are forgotten once they are old and there are many, and nothing that old is taken for new']] },
  { row: 89, what: 'the log cannot be written', alert: { none: 'the log is given up, trading is not' },
    tests: [['test/operate/log.test.ts', 'survives a reader that goes away'], ['test/operate/log.test.ts', 'does not throw, whatever it is given']] },
  { row: 90, what: 'a signal', alert: { none: 'the operator asked for it' },
    tests: [[system('drain'), 'has its orders answered first, closes its journal and ends with exit 0: %s'], [engine('drain'), 'leaves nothing under way, whenever it comes, and a restart goes on without repeating a slice']] },
  { row: 91, what: 'SIGKILL, the killer of the kernel, a power cut', alert: { none: 'recovered by the next start' }, tests: [SIGKILL] },
  { row: 92, what: 'a new version in the middle of a parent', alert: { none: 'a parent keeps the document that it began with' },
    tests: [['test/journal/golden.test.ts', 'is read as it was then, and can be gone on with'], [journal('chain'), 'keeps its hashes from version to version'], [core('ids'), 'stays what it was: a journal of last year must still be read']] },
  { row: 93, what: 'a hostile page or a flood at the operator\'s port', alert: { none: 'answered with 421, nothing changes' },
    tests: [['test/operate/server.test.ts', 'answers only the loopback names with the right port'], ['test/operate/server.test.ts', 'checks the Host of paths it does not know, and tells nothing there']] },
  { row: 94, what: 'a dependency or Node itself changes its ways', alert: { none: 'found before it is installed: pins, hashes and traces' },
    tests: [[engine('determinism'), 'writes the same journal in another process'], ['test/house/lockfile.test.ts', 'has the hash of every package, and names no registry']] },
  { row: 95, what: 'the operator writes the wrong pair or a zero too many', alert: { none: 'refused by a limit that has no default' },
    tests: [[app('config'), 'asks for %s in live mode'], [core('controls'), 'of %s allows what is equal to it and refuses what is beyond']] },
  { row: 96, what: 'no funds, or the pair may only be reduced', alert: { none: NO_TRADE },
    tests: [[engine('gate'), 'lets nothing through that the account cannot pay any more'], [engine('pts-watch'), 'ends in the middle of a twap when the mode turns to Reduce-Only']] },
];
