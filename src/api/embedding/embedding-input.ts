/** The input of an embeddings request, checked with sentences that say what to send instead. */
import { fail } from '../../lib/errors/svc-error.ts';

export const EMBEDDING_LIMITS = { inputs: 2048, inputBytes: 1024 * 1024 } as const;

/** Well-formed strings in input order, or a 400. */
export function readEmbeddingInput(input: string | readonly unknown[]): string[] {
  const list = typeof input === 'string' ? [input] : input;
  if (list.length === 0)
    refuse('input must not be an empty array; send one string or a list of strings.', 'input');
  if (list.length > EMBEDDING_LIMITS.inputs)
    refuse(`input has ${list.length} items; send at most ${EMBEDDING_LIMITS.inputs} per request.`, 'input');

  return list.map((item, index) => readItem(item, typeof input === 'string' ? 'input' : `input[${index}]`));
}

function readItem(item: unknown, field: string): string {
  if (typeof item === 'number' || Array.isArray(item)) {
    refuse(
      'input must be text: token-id input is not supported; send strings (LangChain: set check_embedding_ctx_length=False).',
      field,
    );
  }
  if (typeof item !== 'string') return refuse(`${field} must be a string.`, field);
  if (item === '') refuse(`${field} must not be empty; leave empty texts out.`, field);
  if (Buffer.byteLength(item) > EMBEDDING_LIMITS.inputBytes)
    refuse(`${field} is larger than ${EMBEDDING_LIMITS.inputBytes} bytes; split it.`, field);

  return item.toWellFormed();
}

function refuse(message: string, param: string): never {
  throw fail('invalid_request', { message, param });
}
