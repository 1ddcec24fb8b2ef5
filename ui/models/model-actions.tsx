import { FileCheck, MessageSquare, Power, Star } from 'lucide';
import { begin as beginConversation, changeCurrent } from '../chat/talk/conversations.ts';
import { withModel } from '../chat/talk/conversation.ts';
import { addressOf } from '../parts/address.ts';
import { IconButton } from '../parts/icon.tsx';
import { begin } from './long-change.ts';
import { library, load, loaded, loading, makeDefault, pending, unload } from './models-state.ts';
import type { LibraryModel } from './words/base-model.ts';
import { removalQuestion } from './words/removal.ts';
import { RemoveButton } from './remove-button.tsx';

/** What can be done with a model; each refusal is shown with it, in the service's words. */
export function ModelActions({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id, kind } = model;
  const isBusy = pending.value.has(id);
  const isLoaded = loaded.value.some((each) => each.id === id);
  return (
    <div class="actions model-actions">
      {kind === 'chat' ? <ChatButton id={id} /> : null}
      {kind === 'adapter' ? null : (
        <IconButton
          // A press that began on one does not end on the other.
          key={isLoaded ? 'unload' : 'load'}
          icon={Power}
          name={isLoaded ? 'Unload' : 'Load'}
          words={isLoaded ? 'Unload' : loading.value.has(id) ? 'Loading…' : 'Load'}
          disabled={isBusy}
          onClick={() => void (isLoaded ? unload(id) : load(id, kind))}
        />
      )}
      {isDefault || kind === 'adapter' ? null : (
        <IconButton
          icon={Star}
          name="Make default"
          words="Make default"
          disabled={isBusy}
          onClick={() => void makeDefault(id)}
        />
      )}
      <RemoveButton id={id} question={removalWords(model)} />
    </div>
  );
}

export function ChatButton({ id }: { id: string }) {
  const chat = () => {
    beginConversation();
    changeCurrent((now) => withModel(now, 0, id));
    location.hash = addressOf('chat');
  };
  return <IconButton icon={MessageSquare} name={`Chat with ${id}`} words="Chat" onClick={chat} />;
}

function removalWords(model: LibraryModel): string {
  const { models = [], defaults, next_defaults: following } = library.value ?? {};
  const kind = model.kind === 'embedding' ? 'embedding' : 'chat';
  return removalQuestion(model, models, defaults?.[kind] === model.id ? following?.[kind] : undefined);
}

/** Reads every byte again, and compares it with what was installed. */
export function VerifyButton({ id }: { id: string }) {
  const verify = () =>
    void begin({
      place: id,
      title: `Verifying the files of ${id}`,
      done: 'intact: all bytes match',
      path: '/svc/models/verify',
      body: { model: id },
    });
  return (
    <IconButton
      icon={FileCheck}
      name="Verify files"
      words="Verify files"
      disabled={pending.value.has(id)}
      onClick={verify}
    />
  );
}
