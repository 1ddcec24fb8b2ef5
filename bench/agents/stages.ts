/** What a request with many tools costs in the server and in the worker, by stage: the first time, and again. */
import { readFileSync } from 'node:fs';
import { readContent } from '../../src/server/api/dialects/chat-completions/content.ts';
import { findRelaxations } from '../../src/server/api/chat/relaxations.ts';
import { JobReader, packedJob } from '../../src/contract/job-tools.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { KNOWN_TOOLS } from '../../src/server/http/limits.ts';
import { KnownMember } from '../../src/lib/json/known-member.ts';
import { parseJson } from '../../src/lib/json/strict-json.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { planAnswer } from '../../src/worker/answer/plan-answer.ts';
import { callStyle } from '../../src/worker/prompt/history.ts';
import { renderPrompt } from '../../src/worker/prompt/prompt.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import type { ChatRequest } from '../../src/wire/inference/chat.ts';
import { median, rounded } from '../statistics.ts';

const TIMES = 60;

export interface Family {
  readonly vocabulary: string | undefined;
  readonly template: string | undefined;
}

export async function reportStages(tools: readonly object[], family: Family): Promise<void> {
  const body = { model: 'default', messages: [{ role: 'user', content: 'Hello' }], tools };
  const bytes = Buffer.from(JSON.stringify(body));
  console.log(
    `${tools.length} tools, ${bytes.length} bytes; milliseconds the first time, the second, and p50 of the rest`,
  );
  const server = new Stopwatch();
  const job = await inServer(bytes, server);
  server.report('server');
  if (family.vocabulary === undefined || family.template === undefined) return;
  const worker = new Stopwatch();
  await inWorker(job, worker, { vocabulary: family.vocabulary, template: family.template });
  worker.report('worker');
}

class Stopwatch {
  readonly #times = new Map<string, number[]>();

  of<T>(name: string, work: () => T): T {
    const begin = performance.now();
    const result = work();
    this.#add(name, begin);
    return result;
  }

  async ofAsync<T>(name: string, work: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    const result = await work();
    this.#add(name, begin);
    return result;
  }

  #add(name: string, begin: number): void {
    const times = this.#times.get(name) ?? [];
    times.push(performance.now() - begin);
    this.#times.set(name, times);
  }

  report(where: string): void {
    const columns = ([first = 0, second = 0, ...rest]: readonly number[]): number[] => [
      first,
      second,
      median(rest),
    ];
    const rows = [...this.#times].map(([name, times]) => [name, columns(times)] as const);
    const total = [0, 1, 2].map((at) => rows.reduce((sum, [, row]) => sum + (row[at] ?? 0), 0));
    for (const [name, row] of [...rows, ['together', total] as const]) {
      const cells = row.map((ms) => String(rounded(ms)).padStart(9)).join('');
      console.log(`${where}: ${name.padEnd(24)} ${cells}`);
    }
  }
}

async function inServer(bytes: Buffer, watch: Stopwatch): Promise<GenerateJob> {
  let job: GenerateJob | undefined;
  const known = new KnownMember('tools', KNOWN_TOOLS);
  for (let times = 0; times < TIMES; times += 1) {
    const body = watch.of('read the body', () => parseJson(bytes, known)) as ChatRequest;
    const content = watch.of('read the tools', () => readContent(body));
    await watch.ofAsync('examine their schemas', () => findRelaxations(content, false));
    job = { ...REST, ...content };
    watch.of('pack the job', () => packedJob({ ...REST, ...content }));
  }
  if (job === undefined) throw new Error('nothing was measured');
  return job;
}

const REST = {
  kind: 'generate' as const,
  jobId: 'bench',
  sampling: {},
  adapters: [],
  maxTokens: 1,
  numCtx: null,
  stop: [],
  templateClockMs: null,
  lane: 'shared' as const,
};

async function inWorker(
  job: GenerateJob,
  watch: Stopwatch,
  { vocabulary, template }: Required<Record<keyof Family, string>>,
): Promise<void> {
  const backend = await bootNative('off');
  const writer = promptWriter(
    openTemplate(readFileSync(template, 'utf8')),
    (await backend.openTexts(vocabulary)).vocabulary,
  );
  const reader = new JobReader();
  const packed = packedJob(job);
  for (let times = 0; times < TIMES; times += 1) {
    const read = watch.of('unpack the job', () => reader.unpacked(structuredClone(packed))) as GenerateJob;
    const plan = watch.of('plan the answer', () => planAnswer(read, writer));
    const { turns } = read.prompt as Extract<GenerateJob['prompt'], { kind: 'chat' }>;
    const prompt = {
      turns,
      tools: plan.tools,
      calls: callStyle(plan.model),
      toolsVariable: plan.model.toolsVariable,
      variables: plan.templateVariables,
      prefill: plan.prefill,
      clockMs: null,
    };
    const pieces = watch.of('render the prompt', () => renderPrompt(writer, prompt));
    watch.of('tokenise it', () => writer.tokens.of(pieces, ''));
  }
}
