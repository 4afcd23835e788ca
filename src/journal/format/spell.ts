import { canonicalValue, isSame, orderOf, quote } from './canonical.ts';

/**
 * Checks and spells in one go, by a shape that was taken apart once: nearly all records, in a tenth of the time. Whatever it does not spell
 * is for `problemWith` and `canonical` to judge: it never refuses, and what it spells is what they would have.
 *
 * `undefined`: not to be told here.
 */
export type Spell = (value: unknown) => string | undefined;

/** What a schema says of itself. */
export interface Schema {
  readonly _zod: { readonly def: object };
}

/** `first`: the member that stands before all others, at the top alone. */
export function spellerOf(schema: Schema, first?: string): Spell {
  const def = definitionOf(schema);
  if (isDecimal(def)) return decimal;
  const checks = (def.checks ?? []).map(checkOf);
  if (checks.includes(undefined)) return never;
  const spell = plainSpeller(def, first);
  if (checks.length === 0) return spell;
  return (value) => {
    // The type first: checks know only values of it.
    const spelled = spell(value);
    if (spelled === undefined) return undefined;
    for (const check of checks) if (check?.(value) !== true) return undefined;
    return spelled;
  };
}

const never: Spell = () => undefined;

/** The parts of a definition that are made use of; the kinds of all others are left to who knows them. */
interface Definition {
  readonly type?: string;
  readonly check?: string;
  readonly format?: string;
  readonly inclusive?: boolean;
  readonly value?: unknown;
  readonly pattern?: RegExp;
  readonly fn?: (value: unknown) => unknown;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly checks?: readonly Schema[];
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly catchall?: Schema;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly shape?: Readonly<Record<string, Schema>>;
}

const definitionOf = ({ _zod: { def } }: Schema): Definition => def;

function checkOf(schema: Schema): ((value: unknown) => boolean) | undefined {
  const { check, format, pattern, fn, value: bound, inclusive } = definitionOf(schema);
  if (check === 'string_format' && format === 'regex' && pattern !== undefined && !pattern.global)
    return (value) => typeof value === 'string' && pattern.test(value);
  if (check === 'custom' && fn !== undefined) return (value) => fn(value) === true;
  if (check === 'greater_than' && inclusive === true && typeof bound === 'number')
    return (value) => typeof value === 'number' && value >= bound;
  return undefined;
}

function plainSpeller(def: Definition, first?: string): Spell {
  switch (def.type) {
    case 'string':
      return def.format === undefined ? words() : never;
    case 'number':
      if (def.format === 'safeint')
        return (value) => (Number.isSafeInteger(value) ? numeral(value) : undefined);
      return def.format === undefined
        ? (value) => (Number.isFinite(value) ? numeral(value) : undefined)
        : never;
    case 'literal':
      return oneOf(def.values ?? []);
    case 'enum':
      return oneOf(Object.values(def.entries ?? {}));
    case 'custom':
      return def.fn === undefined ? never : custom(def.fn);
    case 'unknown':
      return anything;
    case 'readonly':
      return def.innerType === undefined ? never : spellerOf(def.innerType);
    case 'pipe':
      // What is stored is what came in; a transform decides nothing.
      return def.in !== undefined && def.out !== undefined && definitionOf(def.out).type === 'transform'
        ? spellerOf(def.in)
        : never;
    case 'array':
      return def.element === undefined ? never : listOf(spellerOf(def.element));
    case 'union':
      return unionOf(def);
    case 'record':
      return recordOf(def);
    case 'object':
      return objectOf(def, first);
    case undefined:
    default:
      return never;
  }
}

/** Most members say the same in record after record. */
function words(): Spell {
  let [last, spelled] = ['', '""'];
  return (value) => {
    if (value === last) return spelled;
    if (typeof value !== 'string') return undefined;
    last = value;
    return (spelled = quote(value));
  };
}

/** Half of all members are amounts. Their shape is known here, so that one look tells that they are of it and hold nothing to escape. */
const DECIMAL = String.raw`^-?\d+(?:\.\d+)?$`;
const [MINUS, POINT, NOUGHT, NINE] = [45, 46, 48, 57];

function isDecimal({ type, format, checks = [] }: Definition): boolean {
  const [only, ...more] = checks.map(definitionOf);
  return type === 'string' && format === undefined && more.length === 0 && only?.format === 'regex' && only.pattern?.source === DECIMAL && !/[^u]/u.test(only.pattern.flags); // prettier-ignore
}

const decimal: Spell = (value) => {
  if (typeof value !== 'string') return undefined;
  const { length } = value;
  const begin = value.charCodeAt(0) === MINUS ? 1 : 0;
  let point = 0;
  for (let at = begin; at < length; at++) {
    const code = value.charCodeAt(at);
    if (code >= NOUGHT && code <= NINE) continue;
    if (code !== POINT || point > 0 || at === begin || at === length - 1) return undefined;
    point = at;
  }
  return begin < length ? `"${value}"` : undefined;
};

/** Of a finite number; zero has no sign in JSON. */
const numeral = (value: unknown): string => String(value);

function oneOf(values: readonly unknown[]): Spell {
  if (!values.every((value) => typeof value === 'string')) return never;
  const spelled = new Map<unknown, string>(values.map((value) => [value, JSON.stringify(value)]));
  return (value) => spelled.get(value);
}

const custom =
  (fn: (value: unknown) => unknown): Spell =>
  (value) =>
    typeof value === 'string' && fn(value) === true ? quote(value) : undefined;

const anything: Spell = (value) => {
  try {
    return canonicalValue(value);
  } catch {
    return undefined;
  }
};

const listOf =
  (spell: Spell): Spell =>
  (value) => {
    if (!Array.isArray(value)) return undefined;
    let text = '';
    for (const element of value) {
      const spelled = spell(element);
      if (spelled === undefined) return undefined;
      text += text === '' ? spelled : `,${spelled}`;
    }
    return `[${text}]`;
  };

/** Where a member tells by its word which of the shapes a value has, no other is tried. */
function unionOf({ options = [], discriminator }: Definition): Spell {
  const spells = options.map((option) => spellerOf(option));
  if (discriminator === undefined) return firstOf(spells);
  const spellOf = new Map<unknown, Spell>();
  for (const [i, option] of options.entries()) {
    const member = definitionOf(option).shape?.[discriminator];
    for (const word of member === undefined ? [] : (definitionOf(member).values ?? []))
      spellOf.set(word, spells[i] ?? never);
  }
  return (value) => (isPlain(value) ? spellOf.get(value[discriminator])?.(value) : undefined);
}

/** Of several that accept a value all spell it alike. */
const firstOf =
  (spells: readonly Spell[]): Spell =>
  (value) => {
    for (const spell of spells) {
      const spelled = spell(value);
      if (spelled !== undefined) return spelled;
    }
    return undefined;
  };

type Members = Readonly<Record<string, unknown>>;
const isPlain = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Any names, with values of one shape. */
function recordOf({ keyType, valueType }: Definition): Spell {
  if (keyType === undefined || valueType === undefined) return never;
  const { type, checks = [] } = definitionOf(keyType);
  if (type !== 'string' || checks.length > 0) return never;
  const spell = spellerOf(valueType);
  return (value) => {
    if (!isPlain(value)) return undefined;
    let text = '';
    for (const { key, name } of orderOf(Object.keys(value))) {
      const spelled = spell(value[key]);
      if (spelled === undefined || key === '__proto__') return undefined;
      text += text === '' ? name + spelled : `,${name}${spelled}`;
    }
    return `{${text}}`;
  };
}

interface Field {
  readonly key: string;
  /** The name as it stands before the value, at the begin of the object and after another member. */
  readonly begins: string;
  readonly goesOn: string;
  readonly isOptional: boolean;
  readonly spell: Spell;
}

/** The members that an object had, and its fields in the order of the text, each with the place of its value among the members. */
interface Layout {
  readonly keys: readonly string[];
  readonly fields: readonly (Field & { readonly place: number })[];
}

/** Objects of one shape have their members in a few orders only. */
const LAYOUTS_MAX = 16;

/** The members of a shape and no others. Records of a shape are made in few places: each makes the same members in the same order. */
function objectOf({ shape, catchall }: Definition, first?: string): Spell {
  if (shape === undefined || catchall === undefined || definitionOf(catchall).type !== 'never') return never;
  const fields = new Map(Object.entries(shape).map(([key, schema]) => [key, fieldOf(key, schema)]));
  const layouts: Layout[] = [];
  const layoutOf = (keys: readonly string[]): Layout => {
    for (const layout of layouts) if (isSame(layout.keys, keys)) return layout;
    const layout = { keys, fields: fieldsOf(fields, keys, first) };
    // Those that do not fit too: an object that is tried as one of several shapes comes again.
    if (layouts.length === LAYOUTS_MAX) layouts.length = 0;
    layouts.push(layout);
    return layout;
  };
  return (value) => {
    if (!isPlain(value)) return undefined;
    const layout = layoutOf(Object.keys(value));
    if (layout.fields.length === 0) return undefined;
    const members = Object.values(value);
    let text = '';
    for (const { place, begins, goesOn, isOptional, spell } of layout.fields) {
      const member = members[place];
      if (member === undefined && isOptional) continue;
      const spelled = spell(member);
      if (spelled === undefined) return undefined;
      text += text === '' ? begins + spelled : goesOn + spelled;
    }
    return text === '' ? '{}' : `${text}}`;
  };
}

function fieldOf(key: string, schema: Schema): Field {
  const { type, innerType } = definitionOf(schema);
  const isOptional = type === 'optional' && innerType !== undefined;
  const name = `${JSON.stringify(key)}:`;
  return {
    key,
    begins: `{${name}`,
    goesOn: `,${name}`,
    isOptional,
    spell: spellerOf(isOptional ? innerType : schema),
  };
}

/** None when a member is not of the shape, or one is missing that must be there. */
function fieldsOf(
  fields: ReadonlyMap<string, Field>,
  keys: readonly string[],
  first: string | undefined,
): Layout['fields'] {
  const isWhole = [...fields.values()].every(({ key, isOptional }) => isOptional || keys.includes(key));
  const found = keys.flatMap((key, place) => {
    const field = fields.get(key);
    return field === undefined ? [] : [{ ...field, place }];
  });
  if (!isWhole || found.length < keys.length) return [];
  const rank = ({ key }: Field): number => (key === first ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1));
}
