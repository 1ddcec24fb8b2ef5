/** The routes that llama-server has beside OpenAI's. */
import type { LlamaServerUseCases } from '../../api/dialects/llama-server/llama-server.ts';
import type {
  InfillRequest,
  NativeCompletionRequest,
  NativeTokenizeRequest,
} from '../../wire/llama-server.ts';
import type { StreamOptions } from '../sse.ts';
import { countHandler, generationHandler } from './generation.ts';
import type { Handler } from './handler.ts';

type Names = 'nativeCompletion' | 'infill' | 'nativeTokenize' | 'tokenizerInfo';

export function llamaServerHandlers(
  useCases: LlamaServerUseCases,
  streams: StreamOptions,
): Record<Names, Handler> {
  const framing = { streams, dialect: 'llama-server' as const };
  return {
    nativeCompletion: generationHandler<NativeCompletionRequest>(
      (body, caller) => useCases.completion(body, caller),
      framing,
    ),
    infill: generationHandler<InfillRequest>((body, caller) => useCases.infill(body, caller), framing),
    nativeTokenize: countHandler<NativeTokenizeRequest>((body, caller) => useCases.tokenize(body, caller)),
    tokenizerInfo: countHandler((_, caller) => useCases.tokenizerInfo(caller)),
  };
}
