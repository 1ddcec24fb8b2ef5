import { useRef, useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import {
  aside,
  changeCurrent,
  current,
  isAnswering,
  leftSettings,
  say,
  stopAll,
} from './talk/playground-state.ts';
import { activeSettings, faultOf, inSentence, type Settings } from './talk/settings.ts';
import { openCalls, pathTo } from './talk/conversation.ts';

/** Where the user writes. Enter sends, Shift and Enter begin a line, Escape stops. */
export function Composer() {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const { lanes, settings } = current.value;
  const fault = faultOf(settings);
  const waits = lanes.some(({ leaf }) => openCalls(pathTo(current.value, leaf)).length > 0);
  const cannot = isAnswering.value || fault !== null || waits;
  const send = () => {
    if (cannot || text.trim() === '') return;
    say(text);
    setText('');
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Failure text={fault} isWhileTyping />
      <ActiveSettings />
      <div class="field">
        <label>
          <span class="unseen">Your message</span>
          <textarea
            ref={field}
            rows={1}
            value={text}
            placeholder={waits ? 'First enter the result of the tool call above' : 'Write a message'}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </label>
        {isAnswering.value ? (
          <button type="button" class="main" onClick={stopAll}>
            Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={cannot || text.trim() === ''}>
            Send
          </button>
        )}
      </div>
    </form>
  );
}

const change = (part: Partial<Settings>): void =>
  changeCurrent((now) => ({ ...now, settings: { ...now.settings, ...part } }));

/** What is set for the next answers, in sight of whoever asks for them; each can be cleared. */
function ActiveSettings() {
  const { settings, entries } = current.value;
  const active = activeSettings(settings);
  if (active.length > 0) {
    return (
      <ul class="active-settings" aria-label="Settings in use">
        {active.map(({ words, cleared }) => (
          <li key={words}>
            <button type="button" class="set" onClick={() => (aside.value = 'settings')}>
              {words}
            </button>
            <button type="button" class="clear" aria-label={`Clear ${words}`} onClick={() => change(cleared)}>
              ×
            </button>
          </li>
        ))}
      </ul>
    );
  }
  const left = leftSettings.value;
  if (left === null || entries.length > 0) return null;
  const names = activeSettings(left).map(({ words }) => inSentence(words));
  return (
    <p class="active-settings">
      <span>A new conversation starts without settings.</span>
      <button type="button" class="quiet small" onClick={() => change(left)}>
        Reuse {names.join(', ')}
      </button>
    </p>
  );
}
