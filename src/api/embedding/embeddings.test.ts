import { describe, expect, it } from 'vitest';
import { embed, type EmbeddingPorts } from './embeddings.ts';

const unused = (): never => {
  throw new Error('the fallback asks no model and no engine');
};
const ports: EmbeddingPorts = {
  models: { resolve: unused, defaultId: unused },
  engine: { submit: unused },
  options: { allowHashEmbeddings: true, strictParams: false },
};

describe('the feature-hash fallback', () => {
  it('hashes large texts in turns with everything else, and stops when the client has left', async () => {
    const leaving = new AbortController();
    setImmediate(() => leaving.abort());
    const body = { model: 'feature-hash-768', input: ['some words '.repeat(50_000)] };
    const caller = { requestId: 'r', clientKey: 'c', signal: leaving.signal };
    await expect(embed(ports, body, caller)).rejects.toMatchObject({ code: 'cancelled' });
  });
});
