import { type Static, type TInteger, type TNumber, type TOptional, type TSchema, Type } from 'typebox';
import { SAMPLING, type SamplingRow } from './sampling.ts';

type Table = typeof SAMPLING;
type OptionWith<Column extends string, Value> = {
  [K in SamplingOption]: Table[K] extends Readonly<Record<Column, Value>> ? K : never;
}[SamplingOption];

export type SamplingOption = keyof Table;
export type WireName<K extends SamplingOption> = Table[K]['wire'];
export type AskedValue<K extends SamplingOption> = Table[K] extends { read: (asked: infer A) => unknown }
  ? A
  : number;
export type ModelOption = OptionWith<'perModel', true>;
export type RecordedOption = Exclude<SamplingOption, OptionWith<'evidence', 'requested'>>;
export type DeviationOption = OptionWith<'evidence', 'deviation'>;
type DefaultedOption = OptionWith<'fallback', number>;
type AnsweredOption = DefaultedOption & OptionWith<'reach', 'plain'>;

const rows = Object.entries(SAMPLING) as [SamplingOption, SamplingRow][];
const rowsWhere = <K extends SamplingOption>(holds: (row: SamplingRow) => boolean) =>
  rows.filter(([, row]) => holds(row)) as [K, SamplingRow][];

export const SAMPLING_ROWS: readonly (readonly [SamplingOption, SamplingRow])[] = rows;
export const MODEL_ROWS = rowsWhere<ModelOption>((row) => row.perModel);
export const RECORDED_ROWS = rowsWhere<RecordedOption>((row) => row.evidence !== 'requested');

function shapes<Shapes extends Record<string, TSchema>>(
  of: readonly (readonly [string, SamplingRow])[],
  shape: (row: SamplingRow) => TSchema,
): Shapes {
  return Object.fromEntries(of.map(([option, row]) => [option, shape(row)])) as Shapes;
}

/** Sampling of a job; absent members take the engine's defaults. The edge has checked the ranges of requests. */
export const Sampling = Type.Object(
  shapes<{ [K in SamplingOption]: TOptional<Table[K]['schema']> }>(rows, ({ schema }) =>
    Type.Optional(schema),
  ),
);
export type Sampling = Static<typeof Sampling>;

export const modelSamplingShapes = shapes<{ [K in ModelOption]: TOptional<Table[K]['schema']> }>(
  MODEL_ROWS,
  ({ schema }) => Type.Optional(schema),
);

export const SAMPLING_DEFAULTS = Object.fromEntries(
  rows.flatMap(([option, { fallback }]) => (fallback === undefined ? [] : [[option, fallback]])),
) as Readonly<Record<DefaultedOption, number>>;

export const recordedShapes = shapes<{
  [K in RecordedOption]: Table[K]['schema'] extends TInteger ? TInteger : TNumber;
}>(RECORDED_ROWS, ({ schema }) => (Type.IsInteger(schema) ? Type.Integer() : Type.Number()));
type RecordedSampling = { [K in RecordedOption]: number };

const ANSWERED_ROWS = rowsWhere<AnsweredOption>(
  ({ reach, fallback }) => reach === 'plain' && fallback !== undefined,
);

/** The Responses dialect requires these of every response. */
export const answeredShapes = Object.fromEntries(
  ANSWERED_ROWS.map(([, { wire, schema }]) => [wire, schema]),
) as { [K in AnsweredOption as WireName<K>]: TNumber };

export function answeredSampling(sampling: Sampling) {
  return Object.fromEntries(
    ANSWERED_ROWS.map(([option, { wire, fallback }]) => [wire, sampling[option] ?? fallback]),
  ) as { [K in AnsweredOption as WireName<K>]: number };
}

export function recordedSampling(sampling: Sampling): RecordedSampling {
  return Object.fromEntries(
    RECORDED_ROWS.map(([option, { fallback }]) => [option, sampling[option] ?? fallback ?? 0]),
  ) as RecordedSampling;
}
