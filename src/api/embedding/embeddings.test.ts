import { expect, it } from 'vitest';
import { embed } from './embeddings.ts';
import type { Service } from '../service.ts';

it('hashes large texts in turns with everything else, and stops when the client has left', async () => {
  // All that the fallback asks of the service.
  const service = { options: { allowHashEmbeddings: true, strictParams: false } } as Service;
  const leaving = new AbortController();
  setImmediate(() => leaving.abort());
  const body = { model: 'feature-hash-768', input: ['some words '.repeat(50_000)] };
  const facts = { requestId: 'r', clientKey: 'c', signal: leaving.signal };
  await expect(embed(service, body, facts)).rejects.toMatchObject({ code: 'cancelled' });
});
