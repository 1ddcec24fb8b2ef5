import type { CompletionRequest } from '../../wire/inference/completions.ts';
import { headerNames } from '../../wire/headers.ts';
import { completeText, prepareCompletion, streamText } from '../../api/completion/completions.ts';
import type { Service } from '../../api/service.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { sendStream } from '../sse.ts';
import { type Handler, requestFacts } from './handler.ts';

export function completionsHandler(service: Service): Handler {
  return async (request, reply) => {
    const abort = abortOnDisconnect(reply);
    const facts = requestFacts(request, abort.signal);
    const body = request.body as CompletionRequest;
    const prepared = await prepareCompletion(service, body, facts);
    if (prepared.ignoredHeader !== null) reply.header(headerNames.ignoredParams, prepared.ignoredHeader);
    if (body.stream === true) {
      return sendStream(reply, streamText(service, prepared, facts), {
        clock: service.clock,
        log: service.log,
        headAfterMs: service.options.streamHeadAfterMs,
        abort: () => abort.abort(),
      });
    }
    const answer = await completeText(service, prepared, facts);
    reply.header(headerNames.numCtx, String(answer.numCtx));
    return answer.body;
  };
}
