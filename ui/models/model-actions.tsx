import { chatModels } from '../service/known.ts';
import { begin } from './long-change.ts';
import { type LibraryModel, makeDefault, pending, plan } from './models-state.ts';
import { RemoveButton } from './remove-button.tsx';

/** What can be done with a model; each refusal shows beside it, in the service's words. */
export function ModelActions({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id } = model;
  const isBusy = pending.value.has(id);
  const verify = () =>
    void begin({
      place: id,
      title: `Verifying the files of ${id}`,
      path: '/svc/models/verify',
      body: { model: id },
    });
  return (
    <div class="actions model-actions">
      {isDefault || model.kind === 'adapter' ? null : (
        <button type="button" class="quiet small" disabled={isBusy} onClick={() => void makeDefault(id)}>
          Make default
        </button>
      )}
      <button type="button" class="quiet small" disabled={isBusy} onClick={() => void plan(id)}>
        Does it fit now?
      </button>
      <button type="button" class="quiet small" disabled={isBusy} onClick={verify}>
        Verify files
      </button>
      <RemoveButton id={id} question={questionOf(model)} />
    </div>
  );
}

function questionOf({ id, owned_by: owner, kind }: LibraryModel): string {
  const isLast = kind === 'chat' && chatModels.value.every((model) => model.id === id);
  const back = owner === BUILT_IN ? 'It ships with Hearth: a button here brings it back.' : '';
  return [isLast ? 'This is the only chat model.' : '', back, 'Remove it?']
    .filter((part) => part !== '')
    .join(' ');
}

/** The owner of models that ship with Hearth. */
const BUILT_IN = 'hearth';
