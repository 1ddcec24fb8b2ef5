/** Explains different predictions by the differences of files and settings. Pure. */
import type { Difference, Differences, OtherTensors } from '../../../store/registry/differences.ts';

export interface Known extends Differences {
  /** Null: not read. */
  readonly other: OtherTensors | null;
}

/** More names say no more. */
const NAMED = 3;
const ARCHITECTURE = 'general.architecture';
const isArchitecture = ({ name }: Difference): boolean => name === ARCHITECTURE;

const named = (names: readonly string[]): string =>
  `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ', …' : ''}`;

export const valuesAbout = ({ values }: Differences, about: Difference['about']): readonly Difference[] =>
  values.filter((each) => each.about === about);

export function differenceWords({ name, own, reference }: Difference, other: string): string {
  if (own === null) return `${name} is not set, and ${reference} in ${other}`;
  if (reference === null) return `${name} is ${own}, and not set in ${other}`;
  // Long lists are only counted.
  if (own === reference) return `${name} differs from that of ${other}`;
  return `${name} is ${own}, and ${reference} in ${other}`;
}

/** Some of them in a phrase; empty: there are none. */
export const valueWords = (values: readonly Difference[], other: string): string =>
  named(values.map((each) => differenceWords(each, other)));

export const isSameWeights = ({ retyped, reshaped, missing, added, other }: Known): boolean =>
  retyped === null && [reshaped, missing, added, other?.other].every((names) => names?.length === 0);

/** Whether it was made otherwise, so that it can be the better one: another model, other training, a finer quant. */
export const mayBeBetter = (known: Known): boolean =>
  known.values.some(isArchitecture) ||
  known.reshaped.length > 0 ||
  isOtherwiseTrained(known.other) ||
  (known.retyped !== null && !isCoarser(known));

/** The causes of worse predictions than those of `other`. */
export function causeWords(known: Known, other: string): string {
  const values = valuesAbout(known, 'predictions');
  const architecture = values.find(isArchitecture);
  if (architecture !== undefined) return `another model (${differenceWords(architecture, other)})`;
  const { reshaped } = known;
  if (reshaped.length > 0)
    return `another model (${reshaped.length} tensors have other sizes: ${named(reshaped)})`;
  const causes = [
    ...(values.length === 0 ? [] : [`another setting: ${valueWords(values, other)}`]),
    ...quantWords(known, other),
    ...tensorWords(known, other),
  ];
  if (causes.length > 0) return causes.join('; ');
  return 'nothing in its files or settings explains it; measure again, and check the memory of this machine if it happens again';
}

export const isCoarser = ({ retyped }: Differences): boolean =>
  retyped !== null && retyped.own < retyped.reference;

function quantWords(known: Known, other: string): string[] {
  const { retyped } = known;
  if (retyped === null || !isCoarser(known)) return [];
  const bits = `${retyped.own.toFixed(1)} bits per weight, and ${retyped.reference.toFixed(1)} in ${other}`;
  return [`too coarse a quant: ${retyped.count} tensors have ${bits}`];
}

function tensorWords(known: Known, reference: string): string[] {
  const { missing, added, other } = known;
  return [
    ...(missing.length === 0 ? [] : [`tensors are missing: ${named(missing)}`]),
    ...(added.length === 0 ? [] : [`${reference} does not have these tensors: ${named(added)}`]),
    ...(other === null || other.other.length === 0 ? [] : [`${weightsWords(known)}${otherWords(other)}`]),
  ];
}

const otherWords = ({ compared, other }: OtherTensors): string =>
  `${other.length} of ${compared} tensors in the same form have other values (${named(other)})`;

function weightsWords(known: Known): string {
  if (isOtherwiseTrained(known.other)) return 'other weights: ';
  return isCoarser(known) ? '' : 'damaged weights: ';
}

/** Damage hits some tensors. A quant made with other samples, or further training, changes most of them. */
const isOtherwiseTrained = (other: OtherTensors | null): boolean =>
  other !== null && other.other.length * 2 > other.compared;
