/** What a model would take, asked of the native library with the options that a load would open it with. */
import { MOST_DRAFT_TOKENS } from '../../contract/limits.ts';
import type { MeasureSpec } from '../../contract/load.ts';
import type { ContextSize, Measurement } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { chatContext } from './chat.ts';
import { embeddingContext } from './embedding.ts';
import { loadOptions } from './load-options.ts';
import { measureWithExperts } from './measured-experts.ts';
import { fittedMeasures } from './measured-layers.ts';
import { loadFailure } from './load.ts';
import { threadsFor } from './threads.ts';

export async function measureModel(backend: NativeBackend, spec: MeasureSpec): Promise<Measurement> {
  try {
    const options = loadOptions(backend, spec);
    const threads = threadsFor(backend, { ...spec, tunedThreads: null });
    const contexts = spec.sizes.map((size) => contextOf(spec, options, { ...size, threads }));
    const whole = await measureWithExperts(backend, { spec, options }, contexts);
    const measured = contexts.map((context, place) => ({ context, bytes: whole[place] ?? [] }));
    const found = await fittedMeasures(backend, { spec, options }, measured);
    // The vocabulary is no buffer of the library, and of some models it takes as much as the process itself. It has just
    // been read, and its memory is still here.
    return { sizes: found.map((bytes) => [...bytes]), processBytes: process.memoryUsage.rss() };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

function contextOf(
  { kind }: MeasureSpec,
  options: LoadOptions,
  size: ContextSize & Pick<ContextOptions, 'threads'>,
): ContextOptions {
  if (kind === 'embedding') return embeddingContext(options, { limit: size.cells, threads: size.threads });
  // Whether the cells are shared changes next to nothing of what they take.
  return chatContext(options, { ...size, unified: true, draftTokens: MOST_DRAFT_TOKENS });
}
