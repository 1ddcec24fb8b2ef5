/** Opens a chat model for the batch loop. */
import type { LoadSpec } from '../../contract/load.ts';
import type { NativeBackend } from '../addon/native.ts';
import type { ChatModel } from '../model.ts';
import { controlTexts } from '../prompt/client-text.ts';
import { openTemplate } from '../prompt/template.ts';
import { loadOptions } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { threadsFor, tuneThreads } from './threads.ts';

/** Rows of one native call; more gains nothing on a CPU and costs memory. */
const BATCH_TOKENS = 512;

export async function loadChat(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<ChatModel> {
  try {
    const options = loadOptions(backend, spec);
    const { flashAttention, keyType, valueType, rope } = options;
    const model = await backend.openModel(spec.path, options, throttled(onProgress));
    const { vocabulary } = model;
    const template = openTemplate(model.facts.chatTemplate ?? undefined);
    const context = await model.newContext({
      sequences: spec.parallel,
      numCtx: spec.numCtx,
      batchTokens: BATCH_TOKENS,
      threads: threadsFor(backend, spec),
      flashAttention,
      keyType,
      valueType,
      rope,
    });
    const prefixReuse = model.facts.past.holds === 'every token' ? 'full' : 'checkpoints';
    const tuned = await tuneThreads(backend, spec, { context, tokens: 1 });
    return {
      spec,
      backend,
      model,
      vocabulary,
      context,
      prefixReuse,
      writer: { template, vocabulary, controls: controlTexts(vocabulary.controlTexts) },
      facts: {
        ...commonFacts(model, context),
        ...tuned,
        sequences: spec.parallel,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}
