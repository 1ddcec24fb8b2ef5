import { describe, expect, it } from 'vitest';
import { embedJob, generateJob } from '../../../../../test/support/engine/jobs.ts';
import type { DoneEvent } from '../../../../contract/job-event.ts';
import { DEFAULT_BALANCE_LIMITS as limits } from '../limits.ts';
import { nextStep, type Progress } from './failover.ts';
import { FAILURE_KINDS, type FailureKind } from '../../failure-kinds.ts';
import { Transcript } from './transcript.ts';

const nothingYet: Progress = {
  hasBegun: false,
  wasRetried: false,
  wasResumed: false,
  mayResume: false,
  obstacle: null,
  deadlineMs: Number.POSITIVE_INFINITY,
};
const step = (kind: FailureKind, over: Partial<Progress> = {}) =>
  nextStep(kind, { ...nothingYet, ...over }, { nowMs: 1_000, limits });

describe('before the first byte', () => {
  it.each(FAILURE_KINDS.filter((kind) => kind !== 'declined'))('%s: the next upstream, once', (kind) => {
    expect(step(kind)).toEqual({ step: 'retry' });
    expect(step(kind, { wasRetried: true })).toMatchObject({ step: 'fail' });
  });

  it('what is the fault of the request would fail everywhere', () => {
    expect(step('declined')).toEqual({ step: 'fail', why: null });
  });

  it('not when the client has stopped waiting', () => {
    expect(step('connect', { deadlineMs: 1_050 })).toMatchObject({ step: 'fail' });
    expect(step('connect', { deadlineMs: 1_000 + limits.leastRetryMs })).toEqual({ step: 'retry' });
  });
});

describe('after the first byte', () => {
  const begun = { hasBegun: true };

  it.each(FAILURE_KINDS)('%s: never silently', (kind) => {
    expect(step(kind, begun)).toEqual({ step: 'fail', why: null });
  });

  it('goes on elsewhere once, where the client asked for it', () => {
    expect(step('broken', { ...begun, mayResume: true })).toEqual({ step: 'resume' });
    expect(step('broken', { ...begun, mayResume: true, wasResumed: true })).toMatchObject({ step: 'fail' });
  });

  it('and says why not where it cannot', () => {
    expect(step('broken', { ...begun, mayResume: true, obstacle: 'a part of it was reasoning' })).toEqual({
      step: 'fail',
      why: 'a part of it was reasoning',
    });
  });
});

describe('what was said so far', () => {
  const text = (said: string) => ({ type: 'text' as const, text: said });
  const done = (promptTokens: number, completionTokens: number): DoneEvent => ({
    type: 'done',
    finishReason: 'stop',
    usage: { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0 },
    timings: { prefillMs: 0, decodeMs: 0 },
  });

  it('is the beginning of the next answer, with the tokens that are left', () => {
    const job = generateJob({ maxTokens: 5 });
    const transcript = new Transcript(job);
    expect(transcript.hasBegun).toBe(false);
    for (const piece of ['a', 'b ', 'c']) transcript.add(text(piece));
    expect([transcript.hasBegun, transcript.length, transcript.obstacle]).toEqual([true, 4, null]);
    const [asked] = job.prompt.kind === 'chat' ? job.prompt.turns : [];
    expect(transcript.remainingJob(job)).toMatchObject({
      maxTokens: 2,
      prompt: { kind: 'chat', turns: [asked, { role: 'assistant', content: 'ab c' }], continues: true },
    });
  });

  it('is joined to what the prompt had begun already', () => {
    const begun = { role: 'assistant' as const, content: 'Well, ' };
    const job = generateJob({ prompt: { kind: 'chat', turns: [begun], continues: true } });
    const transcript = new Transcript(job);
    transcript.add(text('yes'));
    expect(transcript.remainingJob(job).prompt).toEqual({
      kind: 'chat',
      turns: [{ role: 'assistant', content: 'Well, yes' }],
      continues: true,
    });
    const plain = generateJob({ prompt: { kind: 'text', text: 'Once ' } });
    expect(transcript.remainingJob(plain).prompt).toEqual({ kind: 'text', text: 'Once yes' });
  });

  it('counts tokens where they are told, for pieces may hold several', () => {
    const token = { chosen: { text: 'x', bytes: [120], logprob: 0 }, top: [] };
    const job = generateJob({ maxTokens: 5 });
    const transcript = new Transcript(job);
    transcript.add({ type: 'text', text: 'xxx', tokens: [token, token, token] });
    expect(transcript.remainingJob(job).maxTokens).toBe(2);
  });

  it('ends in one usage: what was said is no part of the prompt', () => {
    const transcript = new Transcript(generateJob({ maxTokens: null }));
    transcript.add({ type: 'started', promptTokens: 0, cachedTokens: 0, numCtx: 0 });
    for (const piece of ['a', 'b', 'c']) transcript.add(text(piece));
    transcript.resume();
    transcript.add(text('d'));
    expect(transcript.whole(done(13, 4)).usage).toMatchObject({ promptTokens: 10, completionTokens: 7 });
    expect(new Transcript(generateJob()).whole(done(13, 4)).usage).toMatchObject({ promptTokens: 13 });
  });

  it.each([
    ['JSON', generateJob({ format: { kind: 'json_object' } }), 'its format is enforced from the beginning'],
    [
      'a call that must be',
      generateJob({
        tools: [{ name: 'f', description: '', parameters: {} }],
        toolChoice: { mode: 'required' },
      }),
      'it has to call a tool',
    ],
    ['vectors', embedJob({ inputs: ['x'] }), 'only a text can be continued'],
  ])('cannot be gone on from: %s', (_, job, why) => {
    expect(new Transcript(job).obstacle).toBe(why);
  });

  it('nor from reasoning, nor from the middle of a call, nor when no token is left', () => {
    const reasoned = new Transcript(generateJob());
    reasoned.add({ type: 'reasoning', text: 'hm' });
    expect(reasoned.obstacle).toBe('a part of it was reasoning');
    const calling = new Transcript(generateJob());
    calling.add({ type: 'tool_call', name: 'f' });
    expect(calling.obstacle).toBe('it had begun to call a tool');
    const full = new Transcript(generateJob({ maxTokens: 1 }));
    full.add(text('a'));
    expect(full.obstacle).toBe('its last token had been written');
  });
});
