/** What a job gets for sampling options that it does not name: the defaults of llama.cpp's own server. */
import type { Sampling } from './job.ts';

type Chosen = Required<Omit<Sampling, 'seed' | 'logitBias'>>;

export const SAMPLING_DEFAULTS: Chosen = {
  temperature: 0.8,
  /** 0: all tokens. */
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  /** 1: no penalty. */
  repeatPenalty: 1,
  repeatLastN: 64,
  presencePenalty: 0,
  frequencyPenalty: 0,
};
