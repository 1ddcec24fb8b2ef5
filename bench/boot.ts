/** From spawn to the first 200 of /health. */
import { serve } from './served.ts';
import { median, quantile, rounded } from './statistics.ts';

export async function boot(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const served = await serve(18_740 + round);
    times.push(served.healthyMs);
    await served.close();
  }
  console.log(
    `boot to first /health: median ${rounded(median(times))} ms, worst ${rounded(quantile(times, 1))} ms of ${times.length}`,
  );
}
