/**
 * Checks claimed tokens in chunks: prompt and answer are evaluated once, and each token is compared with the model's
 * choice. Its events contain the claimed tokens' text, because a claimed text is compared with it.
 */
import type { CheckFacts } from '../../contract/frozen.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { StreamOutput } from '../batch/stream/stream-output.ts';
import type { ChatModel } from '../model.ts';
import { samplerNames, templateDigest } from './account.ts';
import { type FrozenContext, SEQUENCE, CHUNK_TOKENS } from './context.ts';
import { type FrozenPlan, toStreamJob } from './plan.ts';
import type { FrozenHooks } from './run.ts';
import { sha256OfTokens } from './token-bytes.ts';
import { logitGap } from '../batch/stream/logit-trace.ts';

/** JSON and IPC have no infinity; no two logits are ever this far apart. */
const LARGEST_GAP = 1e9;

interface Claim {
  readonly plan: FrozenPlan;
  readonly frozen: FrozenContext;
  readonly claimed: Uint32Array;
}

export async function checkFrozen(chat: ChatModel, claim: Claim, hooks: FrozenHooks): Promise<JobEvent> {
  const { plan, claimed } = claim;
  const startedMs = performance.now();
  const tally = new Tally(plan.epsilon);
  const prompt = plan.prepared.tokens;
  for await (const { step, gap } of measureGaps(claim, hooks)) tally.add(step, gap);
  // Nothing is sampled, and a grammar throws on a token that it does not allow.
  const job = toStreamJob(plan, { ...plan.prepared.answer, constraint: null });
  const output = new StreamOutput(job, chat.vocabulary);
  for (const token of claimed) {
    if (output.finishReason !== null) break;
    for (const event of output.push(token, null)) hooks.event(event);
  }
  const { finishReason, tokens } = output;
  const check: CheckFacts = {
    steps: claimed.length,
    ...tally.facts,
    promptTokensSha256: sha256OfTokens(prompt),
    templateSha256: templateDigest(plan.prepared),
    isWhole: finishReason !== null && tokens.length === claimed.length,
    chain: samplerNames(chat, plan),
  };
  const timings = { prefillMs: performance.now() - startedMs, decodeMs: 0 };
  return { type: 'done', finishReason: finishReason ?? 'stop', usage: output.usage(0), timings, check };
}

/** Distance of each claimed token below the first choice, in logits. */
async function* measureGaps(
  { plan, frozen, claimed }: Claim,
  hooks: FrozenHooks,
): AsyncGenerator<{ step: number; gap: number }> {
  const { context } = frozen;
  const prompt = plan.prepared.tokens;
  const all = Uint32Array.from([...prompt, ...claimed]);
  const first = prompt.length - 1;
  // The last claimed token has no successor to test, so it is not evaluated.
  for (let at = 0; at < all.length - 1; at += CHUNK_TOKENS) {
    await hooks.step();
    const chunk = all.subarray(at, Math.min(at + CHUNK_TOKENS, all.length - 1));
    const wanted = [...chunk.keys()].filter((index) => at + index >= first);
    context.initBatch(chunk.length);
    const rows = context.addToBatch(SEQUENCE, at, chunk, Uint32Array.from(wanted));
    context.decodeBatch();
    for (const [place, index] of wanted.entries()) {
      const step = at + index - first;
      yield { step, gap: logitGap(context, rows[place] ?? -1, claimed[step] ?? -1) };
    }
  }
}

class Tally {
  readonly #epsilon: number;
  readonly facts = { exact: 0, withinMargin: 0, firstMismatch: null as number | null, largestGap: 0 };

  constructor(epsilon: number) {
    this.#epsilon = epsilon;
  }

  add(step: number, gap: number): void {
    const { facts } = this;
    facts.largestGap = Math.max(facts.largestGap, Math.min(gap, LARGEST_GAP));
    if (gap === 0) facts.exact += 1;
    else if (gap <= this.#epsilon) facts.withinMargin += 1;
    else facts.firstMismatch ??= step;
  }
}
