import { expect, it } from 'vitest';
import type { EngineKind, ModelTarget } from '../ports.ts';
import { targetPrivacy } from './ports.ts';

const to = (engine: string, source: unknown = null): ModelTarget =>
  ({ modelId: 'm', kind: 'chat', engine, source }) as ModelTarget;
const remote = (privacy: string) => to('remote', { upstream: { privacy } });

/** By the type, each kind has a line here. */
const EVERY: Readonly<Record<EngineKind, readonly (readonly [ModelTarget, string])[]>> = {
  local: [[to('local'), 'local']],
  command: [[to('command'), 'local']],
  remote: [
    [remote('local'), 'local'],
    [remote('lan'), 'lan'],
    [remote('remote'), 'remote'],
  ],
  pool: [
    [to('pool', { members: [remote('remote'), remote('lan')] }), 'lan'],
    [to('pool', { members: [remote('remote'), to('local')] }), 'local'],
  ],
};

it('is told of every kind of engine', () => {
  for (const [target, privacy] of Object.values(EVERY).flat()) expect(targetPrivacy(target)).toBe(privacy);
});

it('is told of no kind that nobody has thought of', () => {
  expect(() => targetPrivacy(to('elsewhere'))).toThrow(/the engine elsewhere goes is not known/);
});
