import { dirname, resolve } from 'node:path';
import { holidayList } from '../../strategy/calendar/calendar.ts';
import type { HolidayList } from '../../strategy/calendar/calendar.ts';
import { explain } from './explain.ts';
import { problemAt, readFile, shownPath } from './files.ts';
import type { ReadOptions } from './files.ts';
import type { FileProblem } from './problems.ts';
import type { YamlDocument } from './yaml.ts';
import { isRecord } from '../../core/text/json.ts';

interface ReadList {
  readonly list?: HolidayList | undefined;
  readonly problems: readonly FileProblem[];
}

/**
 * Reads the calendar files that strategies name, each file once, and replaces each name with the file's list. The list
 * is then part of the strategy's document, its hash and the journal.
 */
export class Calendars {
  readonly #options: ReadOptions;
  readonly #read = new Map<string, ReadList>();
  readonly #told = new Set<string>();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** Returns the document with lists in place of file names. Paths are relative to the document. */
  fillIn(document: YamlDocument): { readonly value: unknown; readonly problems: readonly FileProblem[] } {
    const { value } = document;
    const schedule = isRecord(value) ? value['schedule'] : undefined;
    const calendar = isRecord(schedule) ? schedule['calendar'] : undefined;
    const named = isRecord(calendar) ? calendar['holidays'] : undefined;
    if (!isRecord(value) || !isRecord(schedule) || !isRecord(calendar) || !Array.isArray(named))
      return { value, problems: [] };
    const problems: FileProblem[] = [];
    const folder = dirname(resolve(this.#options.cwd, document.file));
    const holidays = named.map((entry: unknown, i) => {
      if (typeof entry !== 'string') return entry;
      const path = resolve(folder, entry);
      const read = this.#list(path);
      if (read.list === undefined) {
        const why = read.problems.map((one) => whyOf(one))[0] ?? '';
        problems.push(
          document.problem(
            ['schedule', 'calendar', 'holidays', i],
            `cannot use the calendar file ${shownPath(path, this.#options.cwd)}: ${why}`,
          ),
        );
        if (!this.#told.has(path)) problems.push(...read.problems.filter((one) => one.excerpt !== ''));
        this.#told.add(path);
      }
      return read.list ?? UNREAD;
    });
    return { value: { ...value, schedule: { ...schedule, calendar: { ...calendar, holidays } } }, problems };
  }

  #list(path: string): ReadList {
    let known = this.#read.get(path);
    if (known === undefined) {
      known = this.#readList(path);
      this.#read.set(path, known);
    }
    return known;
  }

  #readList(path: string): ReadList {
    const { documents, problems } = readFile(path, this.#options);
    const [document, ...more] = documents;
    if (problems.length > 0) return { problems };
    const shown = shownPath(path, this.#options.cwd);
    if (document === undefined) return { problems: [problemAt(shown, 'the file is empty')] };
    if (more.length > 0) return { problems: [problemAt(shown, 'the file contains more than one list')] };
    const parsed = holidayList.safeParse(document.value);
    return parsed.success
      ? { list: parsed.data, problems }
      : { problems: explain(parsed.error, holidayList, document) };
  }
}

/** Describes a problem with the whole file, or with its first invalid line. */
const whyOf = ({ line, message, excerpt }: FileProblem): string =>
  excerpt === '' && line === 1
    ? message.replace(/^the file cannot be read: there is no such file$/u, NO_FILE)
    : `line ${line}, ${message}`;
const NO_FILE = 'no such file; write its path relative to the folder of this file';

/** Placeholder for a list that could not be read, which lets the checks of the rest of the document run. */
const UNREAD: HolidayList = { centre: 'not read', every_year: [], days: [] };
