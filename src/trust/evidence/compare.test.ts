import { describe, expect, it } from 'vitest';
import { differences } from './compare.ts';

type Tuple = Parameters<typeof differences>[0];

function tuple(...closure: readonly string[]): Tuple {
  return {
    model: { blob_sha256: 'm', shards: [] },
    backend: {
      backend_sha256: 'b',
      cpu_features: 'AVX2',
      closure: closure.map((name) => ({ name, sha256: `hash of ${name}` })),
    },
    exec: {},
  } as unknown as Tuple;
}

describe('the files that a run mapped', () => {
  it('are compared without those that only call the library', () => {
    const before = tuple('libggml-base.so', 'libllama-common.so', 'libllama.so', 'llama-addon.node');
    expect(differences(before, tuple('libllama.so', 'libggml-base.so'))).toEqual([]);
  });

  it('must be the same ones otherwise', () => {
    const [found] = differences(tuple('libggml-cpu-zen4.so'), tuple('libggml-cpu-haswell.so'));
    expect(found).toContain('mapped files');
  });
});
