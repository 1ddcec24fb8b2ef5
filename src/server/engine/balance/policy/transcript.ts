import type { GenerateJob, Job } from '../../../../contract/job.ts';
import type { DoneEvent, JobEvent, Usage } from '../../../../contract/job-event.ts';

export class Transcript {
  readonly #maxTokens: number | null;
  #said = '';
  #tokens = 0;
  #hasBegun = false;
  #promptTokens: number | null = null;
  #obstacle: string | null;
  #earlierTokens = 0;

  constructor(job: Job) {
    this.#maxTokens = job.kind === 'generate' ? job.maxTokens : null;
    this.#obstacle = findObstacle(job);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get length(): number {
    return this.#said.length;
  }

  get obstacle(): string | null {
    if (this.#obstacle !== null) return this.#obstacle;
    return this.#tokensLeft === 0 ? 'its last token had been written' : null;
  }

  add(event: JobEvent): void {
    switch (event.type) {
      case 'started':
        // An upstream that does not know the count yet reports 0.
        if (event.promptTokens > 0) this.#promptTokens ??= event.promptTokens;
        return;
      case 'queued':
      case 'progress':
        return;
      case 'text':
        this.#hasBegun = true;
        this.#said += event.text;
        this.#tokens += event.tokens?.length ?? 1;
        return;
      case 'reasoning':
        this.#hasBegun = true;
        this.#obstacle ??= 'a part of it was reasoning';
        return;
      case 'tool_call':
      case 'tool_arguments':
        this.#hasBegun = true;
        this.#obstacle ??= 'it had begun to call a tool';
        return;
      default:
        this.#hasBegun = true;
    }
  }

  remainingJob(job: GenerateJob): GenerateJob {
    return { ...job, prompt: begunPrompt(job.prompt, this.#said), maxTokens: this.#tokensLeft };
  }

  resume(): void {
    this.#earlierTokens = this.#tokens;
  }

  /** Usage of the whole answer: text of earlier upstreams counts as completion, not as prompt. */
  whole(done: DoneEvent): DoneEvent {
    return this.#earlierTokens === 0 ? done : { ...done, usage: this.#totalUsage(done.usage) };
  }

  get #tokensLeft(): number | null {
    return this.#maxTokens === null ? null : Math.max(0, this.#maxTokens - this.#tokens);
  }

  #totalUsage(usage: Usage): Usage {
    const promptTokens = this.#promptTokens ?? Math.max(0, usage.promptTokens - this.#earlierTokens);
    return {
      ...usage,
      promptTokens,
      cachedTokens: Math.min(usage.cachedTokens, promptTokens),
      completionTokens: this.#earlierTokens + usage.completionTokens,
    };
  }
}

function begunPrompt(prompt: GenerateJob['prompt'], said: string): GenerateJob['prompt'] {
  if (prompt.kind === 'text') return { ...prompt, text: prompt.text + said };
  if (prompt.kind !== 'chat') throw new Error('text cannot go on behind tokens');
  const { turns, continues } = prompt;
  const last = turns.at(-1);
  const isBegun = continues === true && last !== undefined;
  const begun = isBegun
    ? { ...last, content: last.content + said }
    : { role: 'assistant' as const, content: said };
  return { ...prompt, turns: [...(isBegun ? turns.slice(0, -1) : turns), begun], continues: true };
}

/** An answer that is validated as a whole, or parsed by a grammar from its start, cannot be continued midway. */
function findObstacle(job: Job): string | null {
  if (job.kind !== 'generate') return 'only a text can be continued';
  const { format, toolChoice, tools, prompt } = job;
  if (prompt.kind === 'tokens' || prompt.kind === 'mixed') return 'its prompt is tokens';
  if (format.kind !== 'text') return 'its format is enforced from the beginning';
  if (tools.length > 0 && (toolChoice.mode === 'required' || toolChoice.mode === 'named'))
    return 'it has to call a tool';
  return null;
}
