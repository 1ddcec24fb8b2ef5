/** Which inputs are computed together in one step. Pure. */
import type { EmbedInput } from './embed-input.ts';

/** A job with inputs that wait. */
export interface InputSource {
  readonly inputs: EmbedInput[];
}

export interface StepLimits {
  /** Inputs of one step. */
  readonly sequences: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly tokens: number;
}

export interface StepInput<Source> {
  readonly source: Source;
  readonly input: EmbedInput;
}

/**
 * Takes inputs out of the sources that wait, one from each in turn, because a long list must not starve the others.
 * What does not fit waits for the next step, where it comes first.
 */
export function takeStep<Source extends InputSource>(
  queue: Source[],
  limits: StepLimits,
): StepInput<Source>[] {
  const taken: StepInput<Source>[] = [];
  let left = limits.tokens;
  while (taken.length < limits.sequences) {
    const source = queue.shift();
    if (source === undefined) break;
    const [input] = source.inputs;
    if (input === undefined) continue;
    if (taken.length > 0 && input.tokens.length > left) {
      queue.unshift(source);
      break;
    }
    source.inputs.shift();
    taken.push({ source, input });
    left -= input.tokens.length;
    if (source.inputs.length > 0) queue.push(source);
  }
  return taken;
}
