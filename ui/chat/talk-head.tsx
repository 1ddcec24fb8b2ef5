import { Columns2, SlidersHorizontal, SquareTerminal } from 'lucide';
import { count } from '../parts/figures.ts';
import { IconButton } from '../parts/icon.tsx';
import { areModelsKnown, chatModels, modelNamed, resolved } from '../service/known.ts';
import { aside, isCodeOpen } from './at-hand.ts';
import { ModelChoice } from './model-choice.tsx';
import { withLane } from './talk/conversation.ts';
import { changeCurrent, current } from './talk/conversations.ts';

const MOST_LANES = 4;

export function TalkHead() {
  const { lanes } = current.value;
  const [first] = lanes;
  const toggle = () => (aside.value = aside.value === 'settings' ? 'none' : 'settings');
  return (
    <header class="talk-head">
      {lanes.length === 1 && first !== undefined ? (
        <>
          <ModelChoice lane={first} at={0} />
          <Window model={first.model} />
        </>
      ) : (
        <p class="comparing">Comparing {lanes.length} models</p>
      )}
      <div class="openers">
        {lanes.length < MOST_LANES ? (
          <IconButton
            icon={Columns2}
            name="Compare"
            words="Compare"
            disabled={!areModelsKnown.value}
            onClick={compare}
          />
        ) : null}
        <IconButton
          icon={SquareTerminal}
          name="As API call"
          words="As API call"
          onClick={() => (isCodeOpen.value = true)}
        />
        <IconButton
          icon={SlidersHorizontal}
          name="Settings"
          words="Settings"
          isOpen={aside.value === 'settings'}
          onClick={toggle}
        />
      </div>
    </header>
  );
}

function Window({ model }: { model: string }) {
  const largest = modelNamed(model)?.context_length;
  if (largest === undefined) return null;
  return (
    <span class="chip" title="The most that the model can read and write in one conversation, tokens">
      up to {count(largest)} tokens
    </span>
  );
}

function compare(): void {
  const { lanes } = current.value;
  const shown = new Set(lanes.map(({ model }) => resolved(model)));
  const next = chatModels.value.find(({ id }) => !shown.has(id));
  changeCurrent((now) => withLane(now, next?.id ?? lanes[0]?.model ?? 'default'));
}
