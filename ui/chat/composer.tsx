import { useRef, useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { isAnswering, current, say, stopAll } from './talk/playground-state.ts';
import { ActiveSettings } from './active-settings.tsx';
import { faultOf } from './talk/settings.ts';
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
