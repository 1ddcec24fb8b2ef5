/** The task of each agent, played by scripted models that master it, go in circles, or end their turns early. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../contract/job-event.ts';
import type { GenerateJob, Job } from '../../../../contract/job.ts';
import { localTarget } from '../../../engine/local/model-source.ts';
import type { JobListener } from '../../../engine/ports.ts';
import { type AgentCall, AGENT_KITS, AGENTS, type AgentName, shellAction } from './agent-kits.ts';
import { type AgentCard, pastTurns, playAgent } from './play.ts';
import { isRight, SCRIPT } from './script.ts';

const done: JobEvent = {
  type: 'done',
  finishReason: 'stop',
  usage: { promptTokens: 9, cachedTokens: 0, completionTokens: 5, reasoningTokens: 0 },
  timings: { prefillMs: 1, decodeMs: 1 },
};
const says = (text: string): JobEvent[] => [{ type: 'text', text }, done];
const calls = ({ name, input }: AgentCall): JobEvent[] => [
  { type: 'tool_call', name },
  { type: 'tool_arguments', text: JSON.stringify(input) },
  { ...done, finishReason: 'tool_calls' },
];

type Model = (job: GenerateJob) => JobEvent[];

function play(agent: AgentName, model: Model): Promise<AgentCard> {
  const run = (job: Job, _signal: AbortSignal, listener: JobListener): void => {
    if (job.kind !== 'generate') throw new Error('no job of a chat');
    const events: JobEvent[] = [
      { type: 'started', promptTokens: 9, cachedTokens: 0, numCtx: 8192 },
      ...model(job),
    ];
    for (const event of events) listener.onEvent(event);
    listener.onEnd(null);
  };
  return playAgent({
    agent,
    model: 'm',
    run,
    target,
    signal: new AbortController().signal,
    isOver: () => false,
  });
}

const target = localTarget(
  { modelId: 'm', kind: 'chat', ranks: false, trainedCtx: 8192, defaultCtx: null },
  {
    path: '/m.gguf',
    digest: null,
    threads: null,
    weightsBytes: 1,
    kvBytesPerToken: 1,
    settings: {},
    experts: null,
    attached: { adapters: [], draft: null },
    verify: async () => undefined,
  },
);

/** How many moves stand in the conversation. */
const movesIn = ({ prompt }: GenerateJob): number =>
  prompt.kind === 'chat' ? prompt.turns.filter(({ role }) => role === 'tool').length : 0;

describe.each(AGENTS)('%s', (agent) => {
  const kit = AGENT_KITS[agent];
  const rightMove: Model = (job) => {
    const action = SCRIPT[movesIn(job)]?.action ?? null;
    return action === null ? says('The total was subtracted.') : calls(kit.toCall(action));
  };

  it('is mastered by a model that makes the right moves', async () => {
    const card = await play(agent, rightMove);
    expect(card).toMatchObject({ mastered: 10, left: 0, agent: kit.title });
    expect(card.steps.every(({ moves, loops, guards }) => moves === 1 && !loops && guards.length === 0)).toBe(
      true,
    );
  });

  it('has moves that its own tools take back as what they are', () => {
    for (const { action } of SCRIPT) {
      if (action === null) continue;
      const call = kit.toCall(action);
      const made = kit.toAction(call);
      expect(made !== null && isRight(action, made), JSON.stringify(call)).toBe(true);
      expect(kit.tools.map(({ name }) => name)).toContain(call.name);
    }
    expect(pastTurns(kit, 9).filter(({ role }) => role === 'tool')).toHaveLength(9);
  });

  it('shows where a model goes in circles, and that the guard ends it', async () => {
    const same = kit.toCall({ do: 'read', file: 'README.md' });
    const card = await play(agent, () => calls(same));
    expect(card.mastered).toBe(1);
    expect(card.steps[1]).toMatchObject({ mastered: true, loops: false });
    const { loops, guards, instead } = card.steps[6] ?? {};
    expect([loops, guards, instead]).toEqual([true, ['ended'], 'said nothing']);
  });

  it('shows a model that ends its turn, and one that fails', async () => {
    const silent = await play(agent, () => says('I am done.'));
    expect(silent).toMatchObject({ mastered: 1, steps: { 0: { moves: 1, instead: 'said: I am done.' } } });
    const unknown = await play(agent, () => calls({ name: 'rm', input: {} }));
    expect(unknown.steps[0]).toMatchObject({
      mastered: false,
      instead: expect.stringMatching(/no such tool/),
    });
  });

  it('lets a model try again', async () => {
    const card = await play(agent, (job) => {
      const { prompt } = job;
      const ids = prompt.kind === 'chat' ? prompt.turns.flatMap(({ toolCallId = '' }) => toolCallId) : [];
      const tries = ids.filter((id) => id.includes('-')).length;
      if (tries === 0) return calls(kit.toCall({ do: 'run', command: 'make' }));
      const action = SCRIPT[movesIn(job) - tries]?.action ?? null;
      return action === null ? says('ok') : calls(kit.toCall(action));
    });
    expect(card.mastered).toBe(10);
    expect(card.steps.map(({ moves }) => moves)).toEqual(Array.from({ length: 10 }, () => 2));
  });
});

it.each<[string, ReturnType<typeof shellAction>]>([
  ['cd /home/dev/shop && ls -la', { do: 'list' }],
  ['rg --files', { do: 'list' }],
  ["sed -n '1,20p' src/total.js", { do: 'read', file: 'src/total.js' }],
  ['cat "./README.md"', { do: 'read', file: './README.md' }],
  ["grep -rn 'total(' .", { do: 'find', text: " -rn 'total(' ." }],
  ["sed -i 's/a - b/a + b/g' x.js", { do: 'edit', file: 'x.js', from: 'a - b', to: 'a + b' }],
  ['echo hi > NOTES.md', { do: 'write', file: 'NOTES.md', text: 'echo hi > NOTES.md' }],
  [
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.js\n@@\n-x - y\n+x + y\n*** End Patch\nEOF",
    { do: 'edit', file: 'a.js', from: 'x - y', to: 'x + y' },
  ],
  ['npm test', { do: 'run', command: 'npm test' }],
  ['', null],
])('the command %j is understood', (command, action) => {
  expect(shellAction(command)).toEqual(action);
});
