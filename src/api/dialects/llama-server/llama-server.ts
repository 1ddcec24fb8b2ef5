/**
 * api/dialects/llama-server owns the routes that llama-server has beside OpenAI's: completions in its own shape, gaps of
 * code, tokens, and a conversation as the model reads it. It knows no engine and no socket; what runs is the use case of text
 * completion, of tokens, or of chat.
 */
import type {
  InfillRequest,
  NativeCompletionRequest,
  NativeTokenizeRequest,
  TokenizerInfo,
} from '../../../wire/llama-server.ts';
import type { TokenizeResponse } from '../../../wire/inference/tokens.ts';
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

/** The clients of this dialect know one model. */
function named<Body extends { readonly model?: string | null }>(
  body: Body,
): Body & { readonly model: string } {
  return { ...body, model: body.model ?? 'default' };
}
