import type { ModelParams } from './manifest.ts';

/** Parameters by the names that requests, the environment and other tools' stores spell alike. */
export const sharedParamNames: Readonly<Record<string, keyof ModelParams>> = {
  num_ctx: 'numCtx',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  min_p: 'minP',
  repeat_penalty: 'repeatPenalty',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
  stop: 'stop',
};
