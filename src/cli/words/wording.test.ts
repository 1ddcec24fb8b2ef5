/** Sentences of the service in the words of a terminal: every phrase that is replaced exists, and none is left. */
import { describe, expect, it } from 'vitest';
import { fail } from '../../lib/errors/svc-error.ts';
import { inCliWords } from './wording.ts';

const sentences = [
  fail('model_not_found', { model: 'nobody' }),
  fail('model_not_found', { model: 'user/repo' }),
  fail('wrong_model_kind', { model: 'm', kind: 'chat', use: 'embeddings', wanted: 'embedding' }),
  fail('unauthorized'),
  fail('evidence_unavailable', { reason: 'r' }),
].map(({ message }) => message);

describe('sentences in a terminal', () => {
  it.each(sentences)('says otherwise: %s', (sentence) => {
    expect(inCliWords(sentence)).not.toBe(sentence);
    expect(inCliWords(sentence)).not.toMatch(/GET \/|Bearer|header/);
  });
});
