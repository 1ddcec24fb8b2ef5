import { addressOf } from '../parts/address.ts';
import { areModelsKnown, chatModels } from '../service/known.ts';
import { say } from './talk/answering.ts';
import { draftName } from './talk/conversations.ts';
import { moveDraft } from './talk/drafts.ts';
import { searches } from './talk/searching.ts';

const FIRST_PROMPTS = ['What is Hearth?', 'How can I prove an answer?', 'How do I install a bigger model?'];

export function Welcome() {
  if (areModelsKnown.value && chatModels.value.length === 0) return <NoModel />;
  const isSearching = searches.value[draftName.value] !== undefined;
  return (
    <div class="welcome">
      <p class="lead">Ask the models on this machine.</p>
      <p>Messages go to this service only, and conversations are stored only in this browser.</p>
      <Toy />
      <ul>
        {FIRST_PROMPTS.map((text) => (
          <li key={text}>
            <button type="button" disabled={isSearching} onClick={() => begin(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The draft stays with the conversation that begins. */
function begin(text: string): void {
  const draft = draftName.value;
  say(text);
  moveDraft(draft, draftName.value);
}

const BUILT_IN = 'hearth';

/** For a user who has only the models that ship with Hearth. */
function Toy() {
  const all = chatModels.value;
  if (all.length === 0 || all.some((model) => model.owned_by !== BUILT_IN)) return null;
  return (
    <p>
      The model here is a small demonstration. <a href={addressOf('models')}>Add a larger model</a> for real
      work.
    </p>
  );
}

function NoModel() {
  return (
    <div class="welcome">
      <p class="lead">No chat model is installed.</p>
      <p>Install one, or bring back the one that ships with Hearth.</p>
      <a class="button" href={addressOf('models')}>
        Open Models
      </a>
    </div>
  );
}
