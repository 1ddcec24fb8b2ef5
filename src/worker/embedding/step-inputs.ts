export interface Sized {
  readonly tokens: { readonly length: number };
}

interface InputSource {
  readonly inputs: Sized[];
}

/** Inputs of up to `longest` tokens are computed together, and with no others. */
export interface StepLimits {
  readonly longest: number;
  readonly sequences: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly tokens: number;
}

interface StepInput<Source extends InputSource> {
  readonly source: Source;
  readonly input: Source['inputs'][number];
}

export interface Step<Source extends InputSource, Limits> {
  readonly limits: Limits;
  readonly inputs: readonly StepInput<Source>[];
}

/** Rows that llama.cpp multiplies at once; each row beyond a multiple costs at least a third more. */
const TILE_ROWS = 16;

/**
 * Takes inputs from the sources, one from each in turn, because a long list must not starve the others. The length of
 * the first determines the limits. Inputs that do not fit come first in the next step.
 */
export function takeStep<Source extends InputSource, Limits extends StepLimits>(
  queue: Source[],
  kinds: readonly Limits[],
): Step<Source, Limits> | null {
  const limits = limitsOfFirst(queue, kinds);
  if (limits === null) return null;
  const inputs: StepInput<Source>[] = [];
  let left = limits.tokens;
  // Sources without an input of this length keep their turn for the next step.
  const passedOver: Source[] = [];
  while (inputs.length < limits.sequences) {
    const source = queue.shift();
    if (source === undefined) break;
    const at = source.inputs.findIndex((each) => limitsFor(each, kinds) === limits);
    const input = source.inputs[at];
    if (input === undefined) {
      passedOver.push(source);
      continue;
    }
    if (inputs.length > 0 && input.tokens.length > left) {
      queue.unshift(source);
      break;
    }
    source.inputs.splice(at, 1);
    inputs.push({ source, input });
    left -= input.tokens.length;
    if (source.inputs.length > 0) queue.push(source);
  }
  queue.unshift(...passedOver);
  if (inputs.length > 1) exchangeLast(inputs, left, (each) => limitsFor(each, kinds) === limits);
  return { limits, inputs };
}

/** Replaces the last input by another of the same source if that comes closer to whole tiles. */
function exchangeLast<Source extends InputSource>(
  inputs: StepInput<Source>[],
  left: number,
  fits: (input: Sized) => boolean,
): void {
  const last = inputs.at(-1);
  if (last === undefined) return;
  const { source, input } = last;
  const waiting: Source['inputs'] = source.inputs;
  const length = input.tokens.length;
  const rows = inputs.reduce((sum, each) => sum + each.input.tokens.length, -length);
  const beyondTiles = (each: Sized): number => (rows + each.tokens.length) % TILE_ROWS;
  let best: Sized = input;
  for (const each of waiting) {
    const other = each.tokens.length;
    if (other > length + left || other <= length - TILE_ROWS || !fits(each)) continue;
    if (beyondTiles(each) < beyondTiles(best)) best = each;
  }
  if (best === input) return;
  waiting.splice(waiting.indexOf(best), 1);
  waiting.unshift(input);
  inputs[inputs.length - 1] = { source, input: best };
}

function limitsOfFirst<Limits extends StepLimits>(
  queue: InputSource[],
  kinds: readonly Limits[],
): Limits | null {
  for (;;) {
    const source = queue[0];
    if (source === undefined) return null;
    const [input] = source.inputs;
    if (input !== undefined) return limitsFor(input, kinds);
    queue.shift();
  }
}

function limitsFor<Limits extends StepLimits>({ tokens }: Sized, kinds: readonly Limits[]): Limits {
  const limits = kinds.find(({ longest }) => tokens.length <= longest);
  if (limits === undefined) throw new Error(`no context takes an input of ${tokens.length} tokens`);
  return limits;
}
