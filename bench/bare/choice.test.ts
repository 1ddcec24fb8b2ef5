import { describe, expect, it } from 'vitest';
import { scenarios } from '../compare/scenarios.ts';
import { chooseMeasures } from './choice.ts';

const names = (only?: string): string[] => chooseMeasures(only).map(({ name }) => name);

describe('chooseMeasures', () => {
  it('takes all that a chat model can do, and embeddings when named', () => {
    expect(names()).toEqual(['decode', 'streams-2', 'streams-4', 'streams-8', 'prefill-512', 'prefill-4096']);
    expect(names('embed-batch')).toEqual(['embed-batch']);
    expect(() => names('embed')).toThrow('there is no measure "embed"');
  });

  it('has the names of scenarios where a server can be measured beside', () => {
    const shared = scenarios.map(({ name }) => name);
    const beside = [...names(), ...names('embed-batch,embed-single')].filter((name) => shared.includes(name));
    expect(beside).toEqual(['decode', 'prefill-512', 'prefill-4096', 'embed-batch', 'embed-single']);
  });
});
