import { describe, expect, it } from 'vitest';
import { explainJob, generateJob } from '../../test/support/engine/jobs.ts';
import { JobReader, packedJob } from './job-tools.ts';

const tools = [{ name: 'weather', description: 'Tells it.', parameters: { type: 'object', properties: {} } }];
/** As a message crosses to another process. */
const crossed = <T>(message: T): T => structuredClone(message);

describe('the tools of a job', () => {
  it.each([generateJob({ tools }), explainJob({ tools }), generateJob()])(
    'arrive as they were sent',
    (job) => {
      expect(new JobReader().unpacked(crossed(packedJob(job)))).toEqual(job);
    },
  );

  it('are the same list for every job that has equal ones', () => {
    const reader = new JobReader();
    const read = () => reader.unpacked(crossed(packedJob(generateJob({ tools: structuredClone(tools) }))));
    const [one, other] = [read(), read()];
    expect(Reflect.get(one, 'tools')).toBe(Reflect.get(other, 'tools'));
  });

  it('are refused where they do not fit their schema', () => {
    const job = generateJob();
    expect(() => new JobReader().unpacked({ job, tools: '[{"name":1}]' })).toThrow('the tools of a job');
  });
});
