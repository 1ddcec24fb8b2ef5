/** Why prompt tokens were evaluated although a prompt cache is kept: named from what the worker saw and what came before. Pure. */
import { missOf } from '../../contract/prompt-difference.ts';
import type { CacheFacts, CacheMissReason, JobEvent } from '../../contract/job-event.ts';
import { CHANGE_CAUSES, type ChangeCause } from '../../lib/prompt-cache/causes.ts';
import type { PromptDifference, PromptPlace } from '../../lib/prompt-cache/difference.ts';

export type Started = Omit<Extract<JobEvent, { type: 'started' }>, 'type'>;

type Unchanged =
  | 'continued'
  | 'first'
  | 'unloaded'
  | 'window_changed'
  | Exclude<CacheMissReason, 'cold' | 'differs'>;
export type CacheReason = ChangeCause | Unchanged;

interface Words {
  /** What happened, behind the name of a place where there is one. */
  readonly sentence: string;
  /** What would have kept it, or null. */
  readonly advice: string | null;
}

const CHANGES: Readonly<Record<ChangeCause, string>> = {
  volatile_line: 'holds a line that is different in each request',
  timestamp: 'holds a time that is different in each request',
  tools_reordered: 'comes in another order than before',
  tools_changed: 'is not what it was before',
  thinking_dropped: 'is without the thinking that the model had before it',
  answer_retokenised: 'is the same text in other tokens',
  text_changed: 'is not what it was before',
};

const UNCHANGED: Readonly<Record<Unchanged, Words>> = {
  continued: { sentence: 'All that was known of the prompt was reused.', advice: null },
  first: { sentence: 'No earlier prompt for this model is known.', advice: null },
  unloaded: {
    sentence: 'The model was loaded anew since the last request.',
    advice: 'Keep it loaded for longer: SVC_KEEP_ALIVE, or keep_alive in the request.',
  },
  window_changed: {
    sentence: 'The model was loaded anew with another window since the last request.',
    advice: 'Send the same num_ctx each time, or none and set it for the model: hearth set MODEL num_ctx=N.',
  },
  evicted: {
    sentence: 'Its state was there and gave way to other conversations.',
    advice: 'Run fewer conversations at a time, or give the model more slots: SVC_NUM_PARALLEL.',
  },
  no_checkpoint: {
    sentence:
      'The memory of this model cannot be cut back to where the prompts part, only to the end of an earlier prompt.',
    advice: 'Append to the conversation; what is rewritten costs everything since the last such end.',
  },
  damaged: { sentence: 'Its state on the disk was damaged and was not used.', advice: null },
  not_worth: {
    sentence: 'Bringing its state into the slot would have taken longer than evaluating it.',
    advice: null,
  },
  not_restored: { sentence: 'Its state was there and could not be restored.', advice: null },
};

/** `last` is the request of the same owner for the same model before this one. */
export function reasonOf(started: Started, last: { readonly numCtx: number } | null): CacheReason {
  const missed = missOf(started);
  if (missed !== null && missed !== 'cold') return missed;
  if (started.earlier !== undefined || started.cachedTokens > 0) return 'continued';
  if (last === null) return 'first';
  return last.numCtx === started.numCtx ? 'unloaded' : 'window_changed';
}

/** Where the tokens came from; all from a slot where the engine does not tell. */
export function originsOf({
  cachedTokens,
  cache,
}: {
  readonly cachedTokens: number;
  readonly cache?: CacheFacts | undefined;
}): Omit<CacheFacts, 'miss'> {
  return cache ?? { slotTokens: cachedTokens, ramTokens: 0, diskTokens: 0, restoreMs: 0 };
}

export function wordsFor(reason: CacheReason, difference: PromptDifference | undefined): Words {
  if (!isChange(reason)) return UNCHANGED[reason];
  const place = difference === undefined ? 'The prompt' : placeName(difference.place);
  // Another question behind the same beginning is what a cache is for.
  if (reason === 'text_changed' && difference?.place.kind === 'message' && !difference.isHistory)
    return { sentence: `${place} is where another conversation begins.`, advice: null };
  return { sentence: `${place} ${CHANGES[reason]}.`, advice: CHANGE_CAUSES[reason] };
}

function isChange(reason: CacheReason): reason is ChangeCause {
  return Object.hasOwn(CHANGE_CAUSES, reason);
}

/** A place as people read it. */
function placeName({ kind, index, name }: PromptPlace): string {
  switch (kind) {
    case 'message':
      return `Message ${index} (${name})`;
    case 'tool':
      return `Tool ${index} (${name})`;
    case 'template':
      return index < 0
        ? 'What the template writes first'
        : `What the template writes behind message ${index}`;
    case 'text':
      return 'The text';
  }
}
