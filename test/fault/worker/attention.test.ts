/** What the server makes of a worker that switches flash attention. */
import { expect, it } from 'vitest';
import { backendOver, keepingLog, loadFrom, outcome, run, textJob } from './worker-rig.ts';

it('is a line in the log, with the time in which nothing was answered', async () => {
  const log = keepingLog();
  const model = await loadFrom(backendOver('changes-attention', { log }));
  const { error } = await outcome(run(model, textJob('')));
  expect(error).toBeUndefined();
  expect(log.lines).toContainEqual({
    level: 'info',
    facts: expect.objectContaining({ flashAttention: false, ms: 1_235, tokens: 3_000 }),
    message: 'Flash attention was switched off.',
  });
});
