import { MODEL_ROWS } from '../../contract/sampling-shapes.ts';
import type { ModelParams } from '../files/manifest.ts';

/** Parameters by the names that requests, the environment and other tools' stores spell alike. */
export const sharedParamNames: Readonly<Record<string, keyof ModelParams>> = {
  num_ctx: 'numCtx',
  ...Object.fromEntries(MODEL_ROWS.map(([option, { wire }]) => [wire, option])),
  stop: 'stop',
};
