/** The choice among upstreams at scale, by simulation: no socket is opened, and the same seed gives the same figures. */
import { parseArgs } from 'node:util';
import { simulate, type SimulationResult } from './simulation.ts';

export async function balance(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      upstreams: { type: 'string', default: '200' },
      requests: { type: 'string', default: '100000' },
      use: { type: 'string', default: '0.6' },
      seeds: { type: 'string', default: '1,2,3' },
    },
  });
  for (const by of ['policy', 'random'] as const) {
    for (const seed of values.seeds.split(',').map(Number)) {
      const result = simulate({
        upstreams: Number(values.upstreams),
        requests: Number(values.requests),
        use: Number(values.use),
        seed,
        by,
      });
      console.log(`${by}, seed ${seed}: ${inWords(result)}`);
    }
  }
}

function inWords(result: SimulationResult): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  return [
    `most requests ${result.requestsOverMean.toFixed(3)}x of the mean`,
    `most work ${result.busyOverMean.toFixed(3)}x`,
    `cached ${percent(result.cachedShare)} of characters (oracle ${percent(result.oracleCachedShare)})`,
    `later turns found their conversation ${percent(result.turnHits)} (oracle ${percent(result.oracleTurnHits)})`,
    `${result.spills} spills, ${result.waited} waited`,
  ].join('; ');
}
