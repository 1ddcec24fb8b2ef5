import { aside, begin } from './talk/playground-state.ts';

/** Why there is no answer, and beside it what helps. */
export function AnswerFailure({ text, code }: { text: string; code: string | undefined }) {
  return (
    <div class="failure" role="alert">
      <p>{text}</p>
      {code === 'context_length_exceeded' ? (
        <div class="actions">
          <button type="button" class="small" onClick={() => begin()}>
            New conversation
          </button>
          <button type="button" class="small" onClick={() => (aside.value = 'settings')}>
            Settings
          </button>
        </div>
      ) : null}
      {code === 'model_not_found' || code === 'no_default_model' ? (
        <a class="button small" href="#/models">
          Models
        </a>
      ) : null}
    </div>
  );
}
