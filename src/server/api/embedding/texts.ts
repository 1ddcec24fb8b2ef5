import type { TextOrIds } from '../../../contract/job.ts';
import { TEXTS_OF_ONE_REQUEST } from '../../../contract/limits.ts';
import { fail } from '../../../lib/errors/svc-error.ts';

export const TEXT_LIMITS = { inputs: TEXTS_OF_ONE_REQUEST, bytes: 1024 * 1024 } as const;

export interface NamedTexts {
  readonly texts: readonly TextOrIds[];
  readonly inputName: (index: number) => string;
}

export function readEmbeddingInput(input: string | readonly unknown[]): NamedTexts {
  if (typeof input === 'string') return { texts: [readText(input, 'input')], inputName: () => 'input' };
  if (typeof input[0] === 'number') return { texts: [readIds(input, 'input')], inputName: () => 'input' };
  if (input.length === 0)
    refuse('input must not be an empty array; send one string or a list of strings.', 'input');
  if (input.length > TEXT_LIMITS.inputs)
    refuse(`input has ${input.length} items; send at most ${TEXT_LIMITS.inputs} per request.`, 'input');

  const inputName = (index: number): string => `input[${index}]`;
  const read = (item: unknown, index: number): TextOrIds =>
    Array.isArray(item) ? readIds(item, inputName(index)) : readText(item, inputName(index));
  return { texts: input.map(read), inputName };
}

function readIds(ids: readonly unknown[], name: string): number[] {
  if (ids.length === 0) refuse(`${name} must not be empty; leave empty texts out.`, name);
  const isId = (id: unknown): id is number => Number.isInteger(id) && Number(id) >= 0 && Number(id) < 2 ** 31;
  const wrong = ids.findIndex((id) => !isId(id));
  if (wrong >= 0) {
    refuse(
      `${name}[${wrong}] must be a token id, a whole number from 0; a list of ids holds nothing else.`,
      `${name}[${wrong}]`,
    );
  }
  return ids.filter(isId);
}

/** White space passes: one blank chunk must not fail a batch. */
export function readText(item: unknown, name: string, ifTooLarge = 'split it'): string {
  if (typeof item === 'number' || Array.isArray(item)) {
    refuse(
      `${name} must be text, not token ids; send strings (LangChain: set check_embedding_ctx_length=False).`,
      name,
    );
  }
  if (typeof item !== 'string') return refuse(`${name} must be a string.`, name);
  if (item === '') refuse(`${name} must not be empty; leave empty texts out.`, name);
  if (Buffer.byteLength(item) > TEXT_LIMITS.bytes)
    refuse(`${name} is larger than ${TEXT_LIMITS.bytes} bytes; ${ifTooLarge}.`, name);

  return item.toWellFormed();
}

export function refuse(message: string, param: string): never {
  throw fail('invalid_request', { message, param });
}
