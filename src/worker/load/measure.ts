/** What a model would take, asked of the native library with the options that a load would open it with. */
import type { MeasureSpec } from '../../contract/load.ts';
import type { DeviceBytes, Measurement } from '../../contract/memory.ts';
import type { ContextOptions, NativeBackend } from '../addon/native.ts';
import { chatContext } from './chat.ts';
import { embeddingContexts } from './embedding.ts';
import { loadOptions } from './load-options.ts';
import { loadFailure } from './load.ts';
import { threadsFor } from './threads.ts';

export async function measureModel(backend: NativeBackend, spec: MeasureSpec): Promise<Measurement> {
  const processBytes = process.memoryUsage.rss();
  try {
    const options = loadOptions(backend, spec);
    const threads = threadsFor(backend, { ...spec, tunedThreads: null });
    const sized = spec.sizes.map((size) => chatContext(options, { ...size, threads }));
    const found = await backend.measure(
      spec.path,
      options,
      spec.kind === 'embedding' ? sized.map(asEmbedding) : sized,
    );
    const contexts = spec.kind === 'embedding' ? embeddingContexts(backend, spec) : 1;
    return { sizes: found.map((devices) => devices.map((bytes) => times(bytes, contexts))), processBytes };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

/** A whole input must fit into one micro-batch. */
function asEmbedding(options: ContextOptions): ContextOptions {
  return { ...options, batchTokens: options.numCtx };
}

/** So many contexts over the same weights. */
function times(bytes: DeviceBytes, contexts: number): DeviceBytes {
  return {
    ...bytes,
    contextBytes: bytes.contextBytes * contexts,
    computeBytes: bytes.computeBytes * contexts,
  };
}
