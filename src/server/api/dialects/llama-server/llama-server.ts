/**
 * server/api/dialects/llama-server owns the routes that llama-server has in addition to OpenAI's: completions in its own
 * shape, infill, tokens, and rendered conversations. It knows no engine and no socket; the use cases of text
 * completion, tokens and chat do the work.
 */
import type {
  InfillRequest,
  NativeCompletionRequest,
  NativeTokenizeRequest,
  TokenizerInfo,
} from '../../../../wire/llama-server.ts';
import type { TokenizeResponse } from '../../../../wire/inference/tokens.ts';
import type { Caller } from '../../caller.ts';
import type { CompletionPorts } from '../../completion/plan.ts';
import { tokenize, tokenizerInfo, type VocabularyAnswer, type VocabularyPorts } from '../../vocabulary.ts';
import type { AcceptedRequest } from '../../chat/accepted-request.ts';
import { acceptCompletion, acceptInfill } from './completion.ts';

export interface LlamaServerUseCases {
  completion(body: NativeCompletionRequest, caller: Caller): Promise<AcceptedRequest>;
  infill(body: InfillRequest, caller: Caller): Promise<AcceptedRequest>;
  tokenize(body: NativeTokenizeRequest, caller: Caller): Promise<VocabularyAnswer<TokenizeResponse>>;
  tokenizerInfo(caller: Caller): Promise<VocabularyAnswer<TokenizerInfo>>;
}

export function llamaServerUseCases(ports: CompletionPorts & VocabularyPorts): LlamaServerUseCases {
  return {
    completion: (body, caller) => acceptCompletion(ports, body, caller),
    infill: (body, caller) => acceptInfill(ports, body, caller),
    tokenize: (body, caller) =>
      tokenize(ports, { ...named(body), parse_special: body.parse_special ?? true }, caller),
    tokenizerInfo: (caller) => tokenizerInfo(ports, caller),
  };
}

function named<Body extends { readonly model?: string | null }>(
  body: Body,
): Body & { readonly model: string } {
  return { ...body, model: body.model ?? 'default' };
}
