import { MOST_DRAFT_TOKENS } from '../../contract/limits.ts';
import type { MeasureSpec } from '../../contract/load.ts';
import type { ContextSize, Measurement } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { chatContext } from './chat.ts';
import { allContexts, embeddingContexts, type EmbeddingWay } from '../embedding/contexts.ts';
import { chooseWay } from './embedding.ts';
import { loadOptions } from './load-options.ts';
import { loadFailure } from './load.ts';
import { measured, placedLoads } from './placement.ts';
import { threadsFor } from './threads.ts';

export async function measureModel(backend: NativeBackend, spec: MeasureSpec): Promise<Measurement> {
  try {
    const options = loadOptions(backend, spec);
    const threads = threadsFor(backend, { ...spec, tunedThreads: null });
    const way = chooseWay(backend, spec, threads);
    const opened = spec.sizes.map((size) => plannedContexts(spec, options, { ...size, threads, way }));
    const placed = await placedLoads(backend, { spec, options }, opened);
    const sizes = (await measured(backend, spec.path, placed)).map(({ bytes }) => [...bytes]);
    // The vocabulary is no buffer of the library, and for some models takes as much as the process itself. It has
    // just been read, so the resident size includes it.
    return { sizes, processBytes: process.memoryUsage.rss() };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

function plannedContexts(
  { kind }: MeasureSpec,
  options: LoadOptions,
  { way, ...size }: ContextSize & Pick<ContextOptions, 'threads'> & { readonly way: EmbeddingWay },
): ContextOptions[] {
  if (kind === 'chat') return [chatContext(options, { ...size, draftTokens: MOST_DRAFT_TOKENS })];
  return allContexts(embeddingContexts(options, { limit: size.cells, threads: size.threads, way }));
}
