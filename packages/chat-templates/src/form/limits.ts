/**
 * Bounds of a chat template. A template comes from a model file, so it is a third party's program: the import check
 * refuses what exceeds these bounds, and the worker enforces them on every rendering.
 */
export const TEMPLATE_LIMITS = {
  sourceBytes: 256 * 1024,
  nesting: 128,
  range: 10_000,
  /** Parsing happens once per load and cannot be counted. A template of the maximum size takes far less. */
  parseMs: 5_000,
  /** Interpreter steps of one rendering: a constant, plus as many per input character. */
  steps: 250_000,
  stepsPerCharacter: 1,
  /** For any conversation length. Templates of known families need up to 2,900,000 for 8 MiB. */
  mostSteps: 5_000_000,
  elements: 1_000_000,
  /** Characters of any text: a constant, plus as many per input character. */
  characters: 256 * 1024,
  charactersPerCharacter: 4,
} as const;

export const RANGE_DEFECT = `counts beyond ${TEMPLATE_LIMITS.range}`;

/** Length of `range()`; NaN for a step of 0. */
export function rangeLength(first: number, second?: number, step = 1): number {
  const [from, to] = second === undefined ? [0, first] : [first, second];
  return step === 0 ? Number.NaN : Math.max(0, Math.ceil((to - from) / step));
}
