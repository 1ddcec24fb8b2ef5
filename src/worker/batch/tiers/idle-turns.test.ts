import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { IdleTurns } from './idle-turns.ts';

it('gives no turn while a prompt is read, and one as soon as it was', async () => {
  const quiet = new IdleTurns();
  quiet.isReading = true;
  let turns = 0;
  const waiting = quiet.turn().then(() => {
    turns += 1;
  });
  for (let i = 0; i < 5; i += 1) await setImmediate();
  expect(turns).toBe(0);
  await quiet.between();
  quiet.isReading = false;
  await waiting;
  expect(turns).toBe(1);
});
