import type { FrozenPins } from '../../contract/frozen.ts';
import { whyNotFrozen } from '../../contract/settings/shapes.ts';
import type { Answer } from '../answer/answer.ts';
import { decodingRequest, type StreamJob } from '../batch/stream/stream-job.ts';
import type { ChatModel } from '../model.ts';
import type { PreparedChat } from '../prepare.ts';
import { unavailable, windowFor } from './context.ts';
import { decodeTokens } from './token-bytes.ts';

export interface FrozenPlan {
  readonly prepared: PreparedChat;
  readonly numCtx: number;
  readonly threads: number;
  readonly claimed: Uint32Array | null;
  readonly epsilon: number;
}

const NO_PINS: FrozenPins = { threads: null, numCtx: null, claimedTokens: null, epsilon: 0 };

export function planFrozen(chat: ChatModel, prepared: PreparedChat): FrozenPlan {
  const { job, tokens, maxTokens } = prepared;
  const pins = job.frozen ?? NO_PINS;
  if (job.sampling.seed === undefined || job.templateClockMs === null)
    throw unavailable('the job pins no seed or no clock');

  if (job.adapters.length > 0) throw unavailable(`the LoRA adapter ${job.adapters[0]?.name} applies to it`);
  refuseSettings(chat);
  const claimed = pins.claimedTokens === null ? null : claimedTokens(chat, pins.claimedTokens);
  const needed = tokens.length + Math.max(maxTokens, claimed?.length ?? 0);
  const numCtx = pins.numCtx ?? windowFor(needed, Math.max(chat.facts.trainedCtx, chat.facts.numCtx));
  if (numCtx < needed) throw unavailable(`${needed} tokens do not fit the pinned window of ${numCtx}`);
  const threads = pins.threads ?? chat.facts.threads;
  return { prepared, numCtx, threads, claimed, epsilon: pins.epsilon };
}

/** A replay loads the plain file, so a run must not depend on settings of its user. */
function refuseSettings({ spec, model }: ChatModel): void {
  const reason = whyNotFrozen(spec.settings);
  if (reason !== null) throw unavailable(reason);
  if (spec.settings.loadMode !== undefined && !model.facts.usesMmap)
    throw unavailable('the model is set to a load_mode that does not map its file');
}

export function toStreamJob({ prepared }: FrozenPlan, answer: Answer): StreamJob {
  const { job, tokens, numCtx, preparation, folds, unheld } = prepared;
  const arrivedMs = performance.now();
  return {
    job: decodingRequest(job),
    prompt: tokens,
    runs: [],
    adapterKey: '',
    owner: '',
    sharedTokens: null,
    answer,
    numCtx,
    preparation,
    folds,
    unheld,
    arrivedMs,
  };
}

function claimedTokens(chat: ChatModel, base64: string): Uint32Array {
  const claimed = decodeTokens(base64);
  if (claimed === null) throw unavailable('the claimed tokens are not u32 ids');
  // Native code looks such a token up without a bounds check.
  if (claimed.some((token) => token >= chat.vocabulary.size))
    throw unavailable('the claimed tokens are not all in the vocabulary of this model');

  return claimed;
}
