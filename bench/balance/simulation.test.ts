import { expect, it } from 'vitest';
import { simulate } from './simulation.ts';

it('load stays even and prompts go where they are known; `npm run bench -- balance` has the figures at scale', () => {
  const asked = { upstreams: 20, requests: 6_000, seed: 7 } as const;
  const policy = simulate({ ...asked, by: 'policy' });
  expect(policy.requestsOverMean).toBeLessThanOrEqual(1.25);
  expect(policy.busyOverMean).toBeLessThanOrEqual(1.25);
  expect(policy.cachedShare).toBeGreaterThanOrEqual(policy.oracleCachedShare - 0.05);
  expect(policy.turnHits).toBeGreaterThanOrEqual(policy.oracleTurnHits - 0.05);
  const random = simulate({ ...asked, by: 'random' });
  expect(random.turnHits).toBeLessThan(policy.turnHits / 2);
});
