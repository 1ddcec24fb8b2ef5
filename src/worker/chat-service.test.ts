/** A chat from its turns to its last event, over a scripted backend: no native library is loaded. */
import { describe, expect, it } from 'vitest';
import {
  answering,
  type Script,
  scriptedBackend,
  scriptedSpec,
} from '../../test/support/engine/scripted-backend.ts';
import { chatRig } from '../../test/support/engine/chat-rig.ts';
import { generateJob } from '../../test/support/engine/jobs.ts';
import type { LoadSettings } from '../contract/settings/shapes.ts';
import type { JobEvent } from '../contract/job-event.ts';
import type { GenerateJob, Turn } from '../contract/job.ts';
import { loadChat } from './load/chat.ts';

async function service(script: Script, settings: LoadSettings = {}, logit?: number) {
  const { backend, evaluated } = scriptedBackend(script, undefined, logit);
  const chat = await loadChat(backend, { ...scriptedSpec, settings }, () => undefined);
  const { chats, run, ended, failureOf } = chatRig(chat, 100);
  return {
    chats,
    run: async (fields: Partial<GenerateJob>) => (await run(fields)).events,
    ended,
    failureOf,
    evaluated,
  };
}

const textOf = (events: readonly JobEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const chat = (...turns: Turn[]): Partial<GenerateJob> => ({ prompt: { kind: 'chat', turns } });

describe('a chat without the native library', () => {
  it('is rendered, evaluated, sampled and read to its end', async () => {
    const { run } = await service(answering((prompt) => `You said: ${/user\n(.*?)</.exec(prompt)?.[1]}, ✓`));
    const events = await run(chat({ role: 'user', content: 'hi' }));
    expect(textOf(events)).toBe('You said: hi, ✓');
    expect(events.map(({ type }) => type)).toEqual(['started', ...Array(15).fill('text'), 'done']);
    expect(events.at(-1)).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n'.length },
    });
  });

  it('stops at a stop string, and at the limit', async () => {
    const { run } = await service(answering(() => 'one two three'));
    const stopped = await run({ stop: ['two'] });
    expect(textOf(stopped)).toBe('one ');
    expect(stopped.at(-1)).toMatchObject({ finishReason: 'stop' });
    const cut = await run({ maxTokens: 5 });
    expect(textOf(cut)).toBe('one t');
    expect(cut.at(-1)).toMatchObject({ finishReason: 'length', usage: { completionTokens: 5 } });
  });

  it('is cut to what its prompt leaves of what both may have together', async () => {
    const { run } = await service(answering(() => 'one two three'));
    const whole = await run(chat({ role: 'user', content: 'hi' }));
    const [{ promptTokens }] = whole as [Extract<JobEvent, { type: 'started' }>];
    for (const [mostTokens, maxTokens, written] of [
      [promptTokens + 5, 100, 5],
      [promptTokens + 5, null, 5],
      [promptTokens + 5, 3, 3],
      [promptTokens - 2, 100, 1],
    ] as const) {
      const events = await run({ ...chat({ role: 'user', content: 'hi' }), mostTokens, maxTokens });
      expect(events.at(-1)).toMatchObject({ finishReason: 'length', usage: { completionTokens: written } });
    }
  });

  it('ends at the marks of the stand-in for a template, which nobody sees', async () => {
    const { run } = await service(answering(() => 'Paris.<|im_end|>\n<|im_start|>user\nAnd'));
    const events = await run(chat({ role: 'user', content: 'hi' }));
    expect(textOf(events)).toBe('Paris.');
    expect(events.at(-1)).toMatchObject({ finishReason: 'stop' });
    expect(events.at(-1)).not.toHaveProperty('stopString');
    // Text that is continued, and JSON, may hold whatever they like.
    const continued = await run({ prompt: { kind: 'text', text: 'x' }, maxTokens: 60 });
    expect(textOf(continued)).toContain('Paris.<|im_end|>\n<|im_start|>user\n');
  });

  it('goes on behind an answer that a client has begun', async () => {
    const prompts: string[] = [];
    const { run } = await service(
      answering((prompt) => {
        prompts.push(prompt);
        return ' 42.';
      }, 'The answer is'),
    );
    const turns: Turn[] = [
      { role: 'user', content: 'How much?' },
      { role: 'assistant', content: 'The answer is' },
    ];
    const events = await run({ prompt: { kind: 'chat', turns, continues: true } });
    expect(prompts.at(-1)).toMatch(/How much\?<\|im_end\|>\n<\|im_start\|>assistant\nThe answer is$/);
    expect(textOf(events)).toBe(' 42.');
  });

  it('speaks the template that its user chose', async () => {
    const prompts: string[] = [];
    const answer = (prompt: string): string => {
      prompts.push(prompt);
      return 'Paris.\n\n### Instruction:\nNext';
    };
    const script = answering(answer, '### Response:\n');
    const { run } = await service(script, { template: 'alpaca' });
    const events = await run(chat({ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'hi' }));
    expect(prompts).toContain('Be brief.\n\n### Instruction:\nhi\n\n### Response:\n');
    expect(textOf(events)).toBe('Paris.\n\n');
  });

  it('does not open a file that the chosen template names', async () => {
    await expect(service(() => Buffer.from(''), { template: '/nowhere/chat.jinja' })).rejects.toMatchObject({
      code: 'load_setting_unusable',
      detail: { setting: 'template', reason: expect.stringMatching(/names a file/) },
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'is refused in plain words where the model computes %d instead of numbers',
    async (logit) => {
      const { chats, ended, failureOf } = await service(() => Buffer.from('!'), {}, logit);
      chats.submit(generateJob({ jobId: 'broken', maxTokens: 5 }));
      expect((await ended('broken')).map(({ type }) => type)).not.toContain('text');
      expect(failureOf('broken')).toMatchObject({
        failure: { code: 'load_failed', detail: { reason: expect.stringContaining('no numbers') } },
      });
    },
  );

  it('reads a call of the envelope', async () => {
    const { run } = await service(
      answering(() => '{"svc_tool_envelope":1,"call":{"name":"clock","arguments":{"zone":"UTC"}}}'),
    );
    const tool = { name: 'clock', description: 'Tells the time.', parameters: { type: 'object' } };
    const events = await run({ tools: [tool], toolChoice: { mode: 'auto' } });
    const call = events.find(({ type }) => type === 'tool_call');
    const words = events.map((event) => (event.type === 'tool_arguments' ? event.text : '')).join('');
    expect(call).toMatchObject({ name: 'clock' });
    expect(words).toBe('{"zone":"UTC"}');
    expect(events.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
  });

  it('evaluates only what a conversation adds', async () => {
    const { run, evaluated } = await service(answering(() => 'fine'));
    const opening: Turn[] = [{ role: 'user', content: 'how are you?' }];
    await run(chat(...opening));
    const before = evaluated.tokens;
    const next = await run(
      chat(...opening, { role: 'assistant', content: 'fine' }, { role: 'user', content: 'and now?' }),
    );
    const done = next.at(-1);
    if (done?.type !== 'done') throw new Error('it did not end');
    expect(done.usage.cachedTokens).toBeGreaterThan(50);
    expect(evaluated.tokens - before).toBeLessThan(done.usage.promptTokens);
  });

  it('answers several at once, and lets go of the one that is cancelled', async () => {
    const { chats, run, ended, failureOf } = await service(answering(() => 'a long answer'.repeat(6)));
    const dropped = generateJob({ maxTokens: 60 });
    chats.submit(dropped);
    const kept = run({ maxTokens: 60 });
    expect(chats.cancel(dropped.jobId)).toBe(true);
    await ended(dropped.jobId);
    expect(failureOf(dropped.jobId)).toMatchObject({ failure: { code: 'cancelled' } });
    expect(textOf(await kept)).toBe('a long answer'.repeat(6).slice(0, 60));
  });

  it('refuses to prove what depends on its user: adapters of the job, positions of the load', async () => {
    const frozen = { lane: 'frozen', sampling: { temperature: 0, seed: 1 }, templateClockMs: 0 } as const;
    const { chats } = await service(answering(() => 'fine'));
    const job = generateJob({ ...frozen, adapters: [{ name: 'style', scale: 1 }] });
    expect(() => chats.submit(job)).toThrow(
      'This request cannot be run as frozen-v1 (the LoRA adapter style applies to it)',
    );
    const scaled = await service(
      answering(() => 'fine'),
      { ropeScaling: 'yarn' },
    );
    expect(() => scaled.chats.submit(generateJob(frozen))).toThrow("another rope_scaling than its file's");
  });

  it('takes turns between the batch loop and a frozen run', async () => {
    const { run } = await service(answering(() => 'a long answer'.repeat(6)));
    const shared = run({ maxTokens: 60 });
    const sampling = { temperature: 0, seed: 1 };
    const frozen = await run({ lane: 'frozen', maxTokens: 10, sampling, templateClockMs: 0 });
    expect(textOf(frozen)).toBe('a long ans');
    expect(textOf(await shared)).toHaveLength(60);
  });
});
