/** Value types of load settings: schema, text form and the words of an error. */
import { type Static, type TSchema, Type } from 'typebox';

export interface SettingValue<S extends TSchema> {
  readonly schema: S;
  /** Parses the text of `hearth set`; undefined if unusable. */
  readonly read: (text: string) => unknown;
  readonly write: (value: never) => string;
  readonly expects: string;
  readonly names?: readonly string[];
  readonly isDocument?: boolean;
}

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const part = (text: string): readonly string[] => text.split(',').map((item) => item.trim());

const wordEnum = <Word extends string>(words: readonly Word[]) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words] });

export function choice<const Word extends string>(...words: readonly Word[]) {
  return {
    schema: wordEnum(words),
    read: (text: string) => words.find((word) => word === text.trim().toLowerCase()),
    write: (value: string) => value,
    expects: inWords(words),
  };
}

const readCount = (text: string, least: number, most: number): number | undefined => {
  const count = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return count >= least && count <= most ? count : undefined;
};

export function count(least: number, most: number) {
  return {
    schema: Type.Integer({ minimum: least, maximum: most }),
    read: (text: string) => readCount(text, least, most),
    write: String,
    expects: `a whole number from ${least} to ${most}`,
  };
}

export function countOr<const Words extends readonly string[]>(most: number, ...words: Words) {
  return {
    schema: Type.Union([Type.Integer({ minimum: 0, maximum: most }), wordEnum<Words[number]>(words)]),
    read: (text: string) =>
      words.find((word) => word === text.trim().toLowerCase()) ?? readCount(text, 0, most),
    write: String,
    expects: `${words.join(', ')} or a whole number from 0 to ${most}`,
  };
}

export function positive(most: number) {
  return {
    schema: Type.Number({ exclusiveMinimum: 0, maximum: most }),
    read: (text: string) => {
      const value = readNumber(text);
      return value !== undefined && value > 0 && value <= most ? value : undefined;
    },
    write: String,
    expects: `a number above 0, at most ${most}`,
  };
}

const MOST_DEVICES = 16;
const DEVICE = /^[\w.:+-]{1,64}$/;

export const devices = {
  schema: Type.Union([
    wordEnum(['auto', 'off']),
    Type.Array(Type.String({ pattern: DEVICE.source }), { minItems: 1, maxItems: MOST_DEVICES }),
  ]),
  read: (text: string) => {
    const word = text.trim().toLowerCase();
    if (word === 'auto' || word === 'off') return word;
    const names = part(text);
    const usable = names.every((name) => DEVICE.test(name)) && new Set(names).size === names.length;
    return usable && names.length <= MOST_DEVICES ? names : undefined;
  },
  write: (value: string | readonly string[]) => (typeof value === 'string' ? value : value.join(',')),
  expects: 'auto, off, or names of devices separated by commas, for example Vulkan0,Vulkan1',
};

const MOST_SHARE = 1_000_000;

export const proportions = {
  schema: Type.Array(Type.Number({ minimum: 0, maximum: MOST_SHARE }), {
    minItems: 1,
    maxItems: MOST_DEVICES,
  }),
  read: (text: string) => {
    const shares = part(text).map(readNumber);
    const usable = shares.every((share) => share !== undefined && share >= 0 && share <= MOST_SHARE);
    return usable && shares.some((share) => share !== 0) && shares.length <= MOST_DEVICES
      ? shares
      : undefined;
  },
  write: (value: readonly number[]) => value.join(','),
  expects: 'the share of each device separated by commas, for example 3,1',
};

const MOST_OVERRIDES = 64;
const MOST_PATTERN = 256;

/** Tensors whose name matches the regular expression go into a buffer of that type. */
const TensorOverride = Type.Object(
  { pattern: Type.String({ minLength: 1, maxLength: MOST_PATTERN }), buffer: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);

export const overrides = {
  schema: Type.Array(TensorOverride, { minItems: 1, maxItems: MOST_OVERRIDES }),
  read: (text: string) => {
    const read = part(text).map((item) => {
      const [, pattern = '', buffer = ''] = /^(.+)=([^=]+)$/.exec(item) ?? [];
      return { pattern, buffer };
    });
    const usable = read.every(({ pattern, buffer }) => isPattern(pattern) && DEVICE.test(buffer));
    return usable && read.length <= MOST_OVERRIDES ? read : undefined;
  },
  write: (value: readonly { pattern: string; buffer: string }[]) =>
    value.map(({ pattern, buffer }) => `${pattern}=${buffer}`).join(','),
  expects: String.raw`PATTERN=BUFFER, more of them separated by commas, for example \.ffn_up_exps\.=CPU`,
};

/**
 * A known name, or the text itself. Never a path: a setting may come from another user or machine, and nothing that
 * it names is opened.
 */
export function nameOrText(
  names: readonly string[],
  { isText, mostChars }: { readonly isText: (text: string) => boolean; readonly mostChars: number },
) {
  return {
    schema: Type.String({ minLength: 1, maxLength: mostChars }),
    read: (text: string) => {
      const name = names.find((known) => known === text.trim().toLowerCase());
      return name ?? (isText(text) && text.length <= mostChars ? text : undefined);
    },
    write: (value: string) => value,
    isDocument: true,
    names,
    expects: inWords([...names, 'the text itself; `hearth set` also takes the path of a file']),
  };
}

export const MOST_ADAPTERS = 16;
export const MOST_SCALE = 100;

/** An installed adapter and its scale where a request names none; 0: not applied. */
export type AdapterScale = Static<typeof AdapterScale>;
export const AdapterScale = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 512 }),
    scale: Type.Number({ minimum: -MOST_SCALE, maximum: MOST_SCALE }),
  },
  { additionalProperties: false },
);

export const adapters = {
  schema: Type.Array(AdapterScale, { minItems: 1, maxItems: MOST_ADAPTERS }),
  read: (text: string) => {
    const read = part(text).map(readAdapter);
    const usable = read.every(({ name, scale }) => name !== '' && Math.abs(scale) <= MOST_SCALE);
    const names = new Set(read.map(({ name }) => name));
    return usable && names.size === read.length && read.length <= MOST_ADAPTERS ? read : undefined;
  },
  write: (value: readonly { name: string; scale: number }[]) =>
    value.map(({ name, scale }) => (scale === 1 ? name : `${name}=${scale === 0 ? 'off' : scale}`)).join(','),
  expects: `NAME, NAME=SCALE (from -${MOST_SCALE} to ${MOST_SCALE}) or NAME=off, more of them separated by commas`,
};

export const modelName = {
  schema: Type.String({ minLength: 1, maxLength: 512 }),
  read: (text: string) => (text.trim().length > 512 ? undefined : text.trim() || undefined),
  write: (value: string) => value,
  expects: 'the id of an installed model',
};

function readAdapter(item: string): { name: string; scale: number } {
  const [name = '', scale = '1', ...rest] = item.split('=');
  if (rest.length > 0) return { name: '', scale: Number.NaN };
  return { name: name.trim(), scale: scale.trim() === 'off' ? 0 : (readNumber(scale) ?? Number.NaN) };
}

function readNumber(text: string): number | undefined {
  const usable = /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?$/i.test(text.trim());
  return usable ? Number(text) : undefined;
}

/** Compiled here, because the library would end the process over an invalid pattern. */
function isPattern(text: string): boolean {
  if (text === '' || text.length > MOST_PATTERN) return false;
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
