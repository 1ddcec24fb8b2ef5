/** What `bare` measures, by name; a name that is a scenario of `compare` too can be measured beside a server. */
import { MOST_EMBEDDING_SEQUENCES } from '../../src/contract/limits.ts';
import type { Request } from './messages.ts';

export interface Measure {
  readonly name: string;
  /** Runs only when named: it needs an embedding model. */
  readonly onlyNamed?: true;
  request(seed: number): Request;
}

const decode = (name: string, streams: number): Measure => ({
  name,
  request: (seed) => ({ measure: 'decode', streams, seed }),
});
const prefill = (tokens: number): Measure => ({
  name: `prefill-${tokens}`,
  request: (seed) => ({ measure: 'prefill', tokens, seed }),
});

const measures: readonly Measure[] = [
  decode('decode', 1),
  ...[2, 4, 8].map((streams) => decode(`streams-${streams}`, streams)),
  prefill(512),
  prefill(4096),
  {
    name: 'embed-batch',
    onlyNamed: true,
    request: (seed) => ({ measure: 'embed', inputs: 64, words: 30, step: MOST_EMBEDDING_SEQUENCES, seed }),
  },
  {
    name: 'embed-single',
    onlyNamed: true,
    request: (seed) => ({ measure: 'embed', inputs: 64, words: 6, step: 1, seed }),
  },
];

export function chooseMeasures(only: string | undefined): readonly Measure[] {
  if (only === undefined) return measures.filter(({ onlyNamed }) => !onlyNamed);
  return only.split(',').map((wanted) => {
    const found = measures.find(({ name }) => name === wanted);
    if (found !== undefined) return found;
    throw new Error(
      `there is no measure "${wanted}"; there are: ${measures.map(({ name }) => name).join(', ')}`,
    );
  });
}
