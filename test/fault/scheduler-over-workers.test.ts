import { expect, test } from 'vitest';
import { engineOver, submission } from './scheduler-rig.ts';
import { backendOver, exists, never, outcome, types } from './worker-rig.ts';

test('a job loads its model, waits with a reason, runs, and leaves the model loaded', async () => {
  const engine = engineOver(backendOver('honest'));
  const { events, error } = await outcome(engine.submit(submission('m'), never));
  expect(error).toBeUndefined();
  expect(types(events)).toEqual(['queued', 'started', 'text', 'done']);
  expect(events[0]).toEqual({ type: 'queued', position: 1, reason: 'loading model m' });
  const again = await outcome(engine.submit(submission('m'), never));
  expect(types(again.events)).toEqual(['started', 'text', 'done']);
  expect(engine.residencies()).toMatchObject([{ modelId: 'm', state: 'ready', running: 0, queued: 0 }]);
  const pid = engine.residencies()[0]?.pid ?? 0;
  expect(await engine.unload('m')).toBe(true);
  expect(exists(pid)).toBe(false);
  expect(await engine.unload('m')).toBe(false);
});
