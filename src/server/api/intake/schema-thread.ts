/**
 * The thread that compiles schemas and checks answers: one schema can take ajv and V8 a second, and the server's
 * event loop serves every stream.
 */
import { parentPort } from 'node:worker_threads';
import { GrammarError } from '../../../../packages/schema-grammar/src/grammar-error.ts';
import { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { examine, KnownSchemas } from './schema-work.ts';
import type { ThreadReply, ThreadRequest } from './schema-messages.ts';

const known = new KnownSchemas();

function reply(request: ThreadRequest): ThreadReply {
  const { id } = request;
  try {
    if (request.kind === 'examine') {
      const budget = new SchemaBudget();
      return {
        id,
        kind: 'examined',
        leftOut: request.schemas.map((schema) => examine(schema, budget, known)),
      };
    }
    const { digest, text, value } = request;
    const checked = known.check(digest, text, value);
    return checked === null ? { id, kind: 'unknown' } : { id, kind: 'checked', problem: checked.problem };
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    const { path, message } = error;
    return { id, kind: 'refused', detail: { message, ...(path !== null && { param: path }) } };
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(reply(request));
});
