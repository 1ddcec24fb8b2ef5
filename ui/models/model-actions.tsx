import { begin } from './long-change.ts';
import { library, makeDefault, pending, plan } from './models-state.ts';
import type { LibraryModel } from './words/base-model.ts';
import { removalQuestion } from './words/removal.ts';
import { RemoveButton } from './remove-button.tsx';

/** What can be done with a model; each refusal shows beside it, in the service's words. */
export function ModelActions({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id } = model;
  const isBusy = pending.value.has(id);
  const verify = () =>
    void begin({
      place: id,
      title: `Verifying the files of ${id}`,
      done: 'intact: all bytes match',
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
        Check memory
      </button>
      <button type="button" class="quiet small" disabled={isBusy} onClick={verify}>
        Verify files
      </button>
      <RemoveButton id={id} question={questionOf(model)} />
    </div>
  );
}

function questionOf(model: LibraryModel): string {
  const { models = [], defaults, next_defaults: following } = library.value ?? {};
  const kind = model.kind === 'embedding' ? 'embedding' : 'chat';
  return removalQuestion(model, models, defaults?.[kind] === model.id ? following?.[kind] : undefined);
}
