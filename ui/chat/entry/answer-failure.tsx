import { addressOf } from '../../parts/address.ts';
import { chatModels, modelNamed } from '../../service/known.ts';
import { aside } from '../at-hand.ts';
import { retry } from '../talk/answering.ts';
import { begin } from '../talk/conversations.ts';
import type { Entry } from '../talk/entry.ts';

export function AnswerFailure({ entry, lane }: { entry: Entry; lane: number }) {
  const { failure = '', failureCode: code } = entry;
  return (
    <div class="failure" role="alert">
      <p>{failure}</p>
      {code === 'context_length_exceeded' ? <TooLong entry={entry} lane={lane} failure={failure} /> : null}
      {code === 'model_not_found' || code === 'no_default_model' ? (
        <a class="button small" href={addressOf('models')}>
          Models
        </a>
      ) : null}
    </div>
  );
}

function TooLong({ entry, lane, failure }: { entry: Entry; lane: number; failure: string }) {
  const has = modelNamed(entry.model ?? '')?.context_length ?? 0;
  const larger = chatModels.value
    .filter(({ context_length: window = 0 }) => window > has)
    .toSorted((a, b) => (b.context_length ?? 0) - (a.context_length ?? 0))[0];
  return (
    <div class="actions">
      <button type="button" class="small" onClick={begin}>
        New conversation
      </button>
      {failure.includes('under Settings') ? (
        <button type="button" class="small" onClick={() => (aside.value = 'settings')}>
          Settings
        </button>
      ) : null}
      {larger === undefined ? null : (
        <button type="button" class="small" onClick={() => retry(lane, entry, larger.id)}>
          Ask {larger.id}
        </button>
      )}
    </div>
  );
}
