import { aside } from './talk/playground-state.ts';

/** Back to the conversation, which a phone does not show beside what is open. */
export function CloseAside() {
  return (
    <button type="button" class="quiet small close" onClick={() => (aside.value = 'none')}>
      Close
    </button>
  );
}
