import { useState } from 'preact/hooks';
import type { ChatRequest } from '../../src/wire/inference/chat.ts';
import { Dialog } from '../parts/dialog.tsx';
import { storedKey } from '../service/key.ts';
import { CodeBlock } from '../text/code/code-block.tsx';
import { asCode, type Language, LANGUAGES } from './talk/as-code.ts';
import { pathTo } from './talk/conversation.ts';
import { isCodeOpen } from './at-hand.ts';
import { current } from './talk/conversations.ts';
import { faultOf, requestOf } from './talk/settings.ts';

export function CodeDialog() {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <Dialog title="Send this request from your code" onClose={() => (isCodeOpen.value = false)}>
      <div class="tabs" role="group" aria-label="Language">
        {LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            class="quiet"
            aria-pressed={name === language}
            onClick={() => setLanguage(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <CodeBlock text={textOf(language)} language={language} />
    </Dialog>
  );
}

/** Image bytes are unreadable; users insert their own. */
const withoutImages = (message: ChatRequest['messages'][number]): ChatRequest['messages'][number] =>
  Array.isArray(message.content)
    ? {
        ...message,
        content: message.content.map((part) => ({ ...part, ...(part.type === 'image_url' ? NO_IMAGE : {}) })),
      }
    : message;
const NO_IMAGE = { image_url: { url: 'data:image/png;base64,…' } };

function textOf(language: Language): string {
  const { lanes, settings } = current.value;
  const fault = faultOf(settings);
  if (fault !== null) return fault;
  const { model, leaf } = lanes[0] ?? { model: 'default', leaf: null };
  const path = pathTo(current.value, leaf);
  // The request ends before the last answer, which it would produce.
  const asked = path.slice(0, path.findLastIndex(({ role }) => role !== 'assistant') + 1);
  const request = requestOf(model, asked, settings);
  const hello = { role: 'user' as const, content: 'Hello!' };
  const messages = asked.length === 0 ? [...request.messages, hello] : request.messages;
  return asCode(
    language,
    { ...request, messages: messages.map(withoutImages) },
    { origin: location.origin, hasKey: storedKey() !== null },
  );
}
