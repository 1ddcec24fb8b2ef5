/** What a recorded request asks of sampling, read as the service reads it. */
import { Check } from '#typebox/value';
import { freezeRequest } from '../../trust/evidence/freeze.ts';
import type { AskedSampling } from '../../trust/evidence/sampling.ts';
import { ChatRequest } from '../../wire/inference/chat.ts';
import { readSampling, readStop, resolveMaxTokens } from '../generation/parameters.ts';

/** Null when it is no chat request; throws what the service would answer when it would refuse it. */
export function readAskedSampling(request: unknown): AskedSampling | null {
  if (!Check(ChatRequest, request)) return null;
  return {
    // Neither the bytes nor the time decide how tokens are chosen.
    frozen: freezeRequest(Buffer.alloc(0), { ...request }, { nowMs: 0, nonce: null }),
    named: readSampling(request),
    maxTokens: resolveMaxTokens(request).maxTokens,
    stop: request.stop === null || request.stop === undefined ? null : readStop(request.stop),
  };
}
