import { addChunk, addSigned, ask, failAnswer, finishAnswer } from './answer.ts';
import { isCommand, runCommand } from './commands.ts';
import { baseModelWords } from './base-model.ts';
import { readConversation } from './saved.ts';
import { type Answerer, askAgain, type Conversation, type Event, type Step, unchanged } from './state.ts';

const QUOTES = '"""';

export function step(before: Conversation, event: Event): Step {
  const state = event.on === 'interrupt' ? before : { ...before, isLeaving: false };
  switch (event.on) {
    case 'line':
      return line(state, event.text);
    case 'interrupt':
      return interrupt(state, event.lineIsEmpty);
    case 'end':
      return end(state);
    case 'queued':
      return { state, effects: [{ do: 'showStatus', text: event.reason }] };
    case 'chunk':
      return addChunk(state, event.chunk);
    case 'window':
      return unchanged({ ...state, model: { ...state.model, window: event.window } });
    case 'signed':
      return addSigned(state, event.answer, event.body);
    case 'answered':
      return finishAnswer(state);
    case 'model':
      return meet({ ...state, model: event.model });
    case 'models':
      return askAgain(state, listed(state, event.ids));
    case 'written':
      return askAgain({ ...state, ownFiles: [...state.ownFiles, ...event.files] }, event.note);
    case 'loaded':
      return readConversation(state, event.file, event.text);
    case 'failed':
      return state.answer === null
        ? askAgain(state, event.failure.wasStopped ? 'Stopped.' : event.failure.sentence)
        : failAnswer(state, event.failure);
  }
}

function line(state: Conversation, text: string): Step {
  if (state.phase === 'block') return blockLine(state, text);
  if (text.trim() === '') return askAgain(state);
  if (state.isSingle) return ask(state, text);
  if (text.startsWith(QUOTES))
    return blockLine({ ...state, phase: 'block', block: [] }, text.slice(QUOTES.length));
  return isCommand(text) ? runCommand(state, text) : ask(state, text.trim());
}

function blockLine(state: Conversation, text: string): Step {
  const trimmed = text.trimEnd();
  if (!trimmed.endsWith(QUOTES)) {
    return {
      state: { ...state, block: [...state.block, text] },
      effects: [{ do: 'ask', more: true }],
    };
  }
  const message = [...state.block, trimmed.slice(0, -QUOTES.length)].join('\n').trim();
  const asking: Conversation = { ...state, phase: 'asking', block: [] };
  return message === '' ? askAgain(asking) : ask(asking, message);
}

/** Ctrl-C stops a running answer, discards a typed line, or else leaves at the second press. */
function interrupt(state: Conversation, lineIsEmpty: boolean): Step {
  if (state.phase === 'answering' || state.phase === 'waiting') {
    const answer = state.answer === null ? null : { ...state.answer, isStopped: true };
    return { state: { ...state, answer }, effects: [{ do: 'stop' }] };
  }
  if (state.phase === 'block') return askAgain({ ...state, block: [], isLeaving: false });
  if (!lineIsEmpty) return askAgain({ ...state, isLeaving: false });
  if (state.isLeaving) return leave(state);
  return askAgain({ ...state, isLeaving: true }, 'Press Ctrl-C again to leave, or type /bye.');
}

/** Waits for a running answer: piped questions end before the last answer does. */
function end(state: Conversation): Step {
  if (state.phase === 'answering' || state.phase === 'waiting')
    return { state: { ...state, isSingle: true }, effects: [] };
  return state.phase === 'over' ? unchanged(state) : leave(state);
}

function leave(state: Conversation): Step {
  return { state: { ...state, phase: 'over' }, effects: [{ do: 'leave', exitCode: 0, sentence: null }] };
}

function listed(state: Conversation, ids: readonly string[]): string {
  const others = ids.filter((id) => id !== state.model.id);
  const choice = others.length === 0 ? 'No other chat model is installed.' : `Others: ${others.join(', ')}`;
  return `${state.model.id} answers. ${choice}`;
}

function meet(state: Conversation): Step {
  return askAgain(state, ...introduction(state));
}

/** Shown early, because a conversation longer than the window is refused. */
function windowWords({ window }: Answerer): string {
  if (window === undefined) return '';
  return ` (window: ${window.isLoaded ? '' : 'up to '}${window.tokens} tokens)`;
}

export function introduction({ model, turns }: Conversation): string[] {
  const kept = turns.length === 0 ? '' : ` The conversation so far is kept; /clear drops it.`;
  return [
    `${model.id} answers${windowWords(model)}.${kept}`,
    ...(model.limits === undefined ? [] : [`It ${model.limits}.`]),
    ...(model.hasTemplate ? [] : [`It ${baseModelWords(model.id)}`]),
  ];
}
