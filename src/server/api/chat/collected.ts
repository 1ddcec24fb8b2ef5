import type { DoneEvent, PromptToken, SampledToken, UnheldKeyword } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { ChoiceEvent } from '../generation/choices.ts';
import { type AnswerEvent, type CallEvent, checker } from './choice-guard.ts';

export type AnswerPart = { readonly type: 'text' | 'reasoning'; readonly text: string } | CallEvent;

export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly tokens: readonly SampledToken[];
  readonly promptTokens: readonly PromptToken[];
  readonly done: DoneEvent;
}

export interface Collected {
  readonly answers: readonly [Answer, ...Answer[]];
  readonly numCtx: number;
  readonly folds: readonly string[];
  readonly unheld: readonly UnheldKeyword[];
}

interface Draft {
  readonly parts: ({ type: 'text' | 'reasoning'; text: string } | CallEvent)[];
  readonly tokens: SampledToken[];
  readonly promptTokens: PromptToken[];
  done: DoneEvent | null;
}

/** Throws if an answer does not match its job. `onStarted` is called when the engine takes a job. */
export async function collect(
  jobs: readonly GenerateJob[],
  events: AsyncIterable<ChoiceEvent> | Iterable<ChoiceEvent>,
  onStarted?: () => void,
): Promise<Collected> {
  const drafts = jobs.map((): Draft => ({ parts: [], tokens: [], promptTokens: [], done: null }));
  const passed = checker(jobs);
  let numCtx = 0;
  let folds: readonly string[] = [];
  let unheld: readonly UnheldKeyword[] = [];
  for await (const { index, event } of events) {
    if (event.type === 'started') {
      numCtx = event.numCtx;
      folds = event.folds ?? [];
      unheld = event.unheld ?? [];
      onStarted?.();
    }
    const draft = drafts[index];
    if (draft) for (const each of passed(index, event)) take(draft, each);
  }
  const [first, ...others] = drafts.map(({ done, ...draft }): Answer => {
    if (done === null) throw new Error('an answer ended without a done event');
    return { ...draft, done };
  });
  if (first === undefined) throw new Error('a request asked for no answer');
  return { answers: [first, ...others], numCtx, folds, unheld };
}

function take(draft: Draft, event: AnswerEvent): void {
  if (event.type === 'prompt_tokens') draft.promptTokens.push(...event.tokens);
  if (event.type === 'text') draft.tokens.push(...(event.tokens ?? []));
  if (event.type === 'text' || event.type === 'reasoning') say(draft, event.type, event.text);
  if (event.type === 'call') draft.parts.push(event);
  if (event.type === 'done') draft.done = event;
}

function say(draft: Draft, type: 'text' | 'reasoning', text: string): void {
  const last = draft.parts.at(-1);
  if (last?.type === type) last.text += text;
  else draft.parts.push({ type, text });
}

export function answerText({ parts }: Answer, type: 'text' | 'reasoning'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}

export function answerCalls({ parts }: Answer): CallEvent[] {
  return parts.filter((part) => part.type === 'call');
}
