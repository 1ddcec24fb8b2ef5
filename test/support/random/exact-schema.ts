/**
 * Random schemas of numbers that JavaScript rounds, as JSON text, and a judge of them that counts in whole numbers of
 * 10^-SCALE and shares no code with the check.
 */
import type { Random } from '../../../packages/schema-grammar/test/grammar-walk.ts';

/** Digits behind the point that the judge counts. */
const SCALE = 6;

export interface ExactSchema {
  readonly text: string;
  readonly allows: (spelling: string) => boolean;
  /** Spellings at and around its limits. */
  readonly near: readonly string[];
}

type Rule = { readonly text: string; readonly allows: (value: bigint) => boolean };

const CENTRES = [2n ** 53n, 2n ** 60n, 2n ** 63n, 2n ** 64n, 10n ** 17n, 1_234_567_890_123_456_789n, 0n];

/** In units of 10^-SCALE. */
function scaled(spelling: string): bigint {
  const [whole = '', fraction = ''] = spelling.replace('-', '').split('.');
  const size = BigInt(whole + fraction.padEnd(SCALE, '0'));
  return spelling.startsWith('-') ? -size : size;
}

const UNIT = 10n ** BigInt(SCALE);
const FRACTIONS = ['', '', '', '.5', '.000001', '.25'];

export function exactSchema(random: Random): ExactSchema {
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const centre = pick(CENTRES) * (random() < 0.3 ? -1n : 1n);
  const near: string[] = [];
  const number = (): string => {
    const whole = centre + BigInt(below(9) - 4);
    const spelling = `${whole}${pick(FRACTIONS)}`;
    near.push(spelling);
    return spelling;
  };
  const orders: Readonly<Record<string, (value: bigint, limit: bigint) => boolean>> = {
    minimum: (value, limit) => value >= limit,
    maximum: (value, limit) => value <= limit,
    exclusiveMinimum: (value, limit) => value > limit,
    exclusiveMaximum: (value, limit) => value < limit,
  };
  const leaf = (): Rule => {
    switch (below(6)) {
      case 0: {
        const spelling = number();
        return { text: `{"const":${spelling}}`, allows: (value) => value === scaled(spelling) };
      }
      case 1: {
        const list = [number(), number(), number()];
        return {
          text: `{"enum":[${list.join(',')}]}`,
          allows: (value) => list.some((each) => scaled(each) === value),
        };
      }
      case 2: {
        const step = pick(['3', '7', '0.5', '0.01', '9007199254740993', '10']);
        return { text: `{"multipleOf":${step}}`, allows: (value) => value % scaled(step) === 0n };
      }
      case 3:
        return { text: '{"type":"integer"}', allows: (value) => value % UNIT === 0n };
      default: {
        const keyword = pick(Object.keys(orders));
        const spelling = number();
        return {
          text: `{"${keyword}":${spelling}}`,
          allows: (value) => orders[keyword]?.(value, scaled(spelling)) === true,
        };
      }
    }
  };
  const rule = (depth: number): Rule => {
    const kind = depth === 0 ? 0 : below(6);
    if (kind < 2) return leaf();
    const [a, b] = [rule(depth - 1), rule(depth - 1)];
    switch (kind) {
      case 2:
        return {
          text: `{"allOf":[${a.text},${b.text}]}`,
          allows: (value) => a.allows(value) && b.allows(value),
        };
      case 3:
        return {
          text: `{"anyOf":[${a.text},${b.text}]}`,
          allows: (value) => a.allows(value) || b.allows(value),
        };
      case 4:
        return {
          text: `{"oneOf":[${a.text},${b.text}]}`,
          allows: (value) => a.allows(value) !== b.allows(value),
        };
      default:
        return { text: `{"not":${a.text}}`, allows: (value) => !a.allows(value) };
    }
  };
  const { text, allows } = rule(2);
  const isWhole = random() < 0.5;
  const type = isWhole ? 'integer' : 'number';
  for (let extra = 0; extra < 6; extra += 1) number();
  return {
    text: `{"type":"${type}","allOf":[${text}]}`,
    allows: (spelling) => {
      const value = scaled(spelling);
      return allows(value) && (!isWhole || value % UNIT === 0n);
    },
    near,
  };
}
