import { describe, expect, it } from 'vitest';
import { candidateTokens, samplersFor, samplerSteps } from './chain.ts';

const xtc = { xtcProbability: 1, xtcThreshold: 0.01 };
const state = { seed: 0, recentTokens: [], numCtx: 1 };

describe('the order of samplers', () => {
  it('is that of llama.cpp, and a neutral one is left out', () => {
    const all = { temperature: 1, topNSigma: 1, typicalP: 0.9, xtcProbability: 1, xtcThreshold: 0.1 };
    const names = ['top_n_sigma', 'top_k', 'typical_p', 'top_p', 'min_p', 'xtc', 'temperature', 'dist'];
    expect(samplersFor(all)).toEqual(names);
    expect(samplersFor({ temperature: 1, topNSigma: 0, typicalP: 1 })).not.toContain('typical_p');
  });
});

describe('XTC', () => {
  it('is in a chain that draws, before the temperature', () => {
    const sampling = { ...xtc, temperature: 0.8 };
    expect(samplersFor(sampling)).toEqual(['top_k', 'top_p', 'min_p', 'xtc', 'temperature', 'dist']);
    expect(samplerSteps({ sampling, ...state }).find(({ name }) => name === 'xtc')?.key).toBe('1 0.01 0');
  });

  it('is not in a greedy one: temperature 0 chooses the largest logit', () => {
    const sampling = { ...xtc, temperature: 0 };
    expect(samplersFor(sampling)).toEqual(['greedy']);
    expect(samplerSteps({ sampling, ...state }).map(({ name }) => name)).toEqual(['greedy']);
  });
});

describe('the logits that a chain looks at', () => {
  it('are few where the largest are cut off first, and more by each bias', () => {
    expect(candidateTokens({ temperature: 0 }, 100)).toEqual({ largest: 1, biased: [] });
    expect(candidateTokens({ temperature: 1, topK: 40 }, 100)).toEqual({ largest: 40, biased: [] });
    const logitBias: [number, number][] = [
      [7, -100],
      [100, 5],
    ];
    expect(candidateTokens({ temperature: 1, topK: 40, logitBias }, 100)).toEqual({
      largest: 41,
      biased: [7],
    });
  });

  it.each([{ topK: 0 }, { presencePenalty: 1 }, { topNSigma: 1 }])('are all with %o', (sampling) => {
    expect(candidateTokens({ temperature: 1, topK: 40, ...sampling }, 100)).toBeNull();
  });
});
