import { Failure } from '../parts/failure.tsx';
import { bytes, clock, count, inSentence, moment, plural } from '../parts/figures.ts';
import { engineState } from '../service/engine-feed.ts';
import { listAbilities } from './words/abilities.ts';
import { BASE_MODEL_WORDS, isBaseModel, type LibraryModel } from './words/base-model.ts';
import { ChangeList } from './change-list.tsx';
import { Aliases } from './aliases.tsx';
import { LastEval } from './last-eval.tsx';
import { ModelActions, VerifyButton } from './model-actions.tsx';
import { faults, type Loaded, loaded, notes, plans, readEval } from './models-state.ts';
import { withCode } from './setting-field.tsx';
import { SettingsEditor } from './settings-editor.tsx';
import { PassportDetails } from './passport.tsx';
import { Pair } from './pair.tsx';
import { planFit } from './words/fit.ts';
import { settingWords } from './words/settings.ts';

export function ModelRow({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id } = model;
  const inMemory = loaded.value.find((each) => each.id === id);
  const fault = faults.value[id];
  const note = notes.value[id];
  return (
    <li class="model">
      <div class="names">
        <h2>{id}</h2>
        <p class="tags">
          {isDefault ? <span class="tag strong default">default</span> : null}
          {kindWords(model) === null ? null : <span class="tag">{kindWords(model)}</span>}
        </p>
      </div>
      <p class="facts">{modelFacts(model).join(' · ')}</p>
      {isBaseModel(model) ? null : <Abilities model={model} />}
      {isBaseModel(model) ? <p class="hint">{withCode(BASE_MODEL_WORDS)}</p> : null}
      {inMemory === undefined ? <Fit id={id} /> : <InMemory state={inMemory} />}
      <ModelActions model={model} isDefault={isDefault} />
      <ChangeList place={id} />
      {note === undefined ? null : <p class="hint">{note}</p>}
      <Failure text={fault} />
      <details onToggle={({ currentTarget }) => readWhenOpen(model, currentTarget.open)}>
        <summary>
          Details<span class="unseen"> of {id}</span>
        </summary>
        <Details model={model} />
        {model.kind === 'chat' ? <LastEval id={id} /> : null}
        <Aliases model={model} />
        <VerifyButton id={id} />
      </details>
      <PassportDetails id={id} />
      {model.kind === 'adapter' ? null : (
        <details>
          <summary>
            Settings<span class="unseen"> of {id}</span>
            {Object.keys(model.texts).length === 0
              ? null
              : ` (${Object.keys(model.texts)
                  .map((name) => inSentence(settingWords(name)))
                  .join(', ')})`}
          </summary>
          <SettingsEditor model={model} />
        </details>
      )}
    </li>
  );
}

function readWhenOpen({ id, kind }: LibraryModel, isOpen: boolean): void {
  if (isOpen && kind === 'chat') void readEval(id);
}

/** Null for the usual kind. */
function kindWords(model: LibraryModel): string | null {
  if (isBaseModel(model)) return 'base model';
  return model.kind === 'chat' ? null : model.kind;
}

export function Abilities({ model }: { model: Pick<LibraryModel, 'capabilities'> }) {
  const abilities = listAbilities(model);
  if (abilities.length === 0) return null;
  return (
    <ul class="tags" aria-label="Abilities">
      {abilities.map(({ word, about }) => (
        <li key={word} class="tag" title={about}>
          {word}
        </li>
      ))}
    </ul>
  );
}

function InMemory({ state }: { state: Loaded }) {
  const { memory_bytes: size, running, queued, num_ctx: window, slots, expires_at: until } = state;
  const facts = [
    `${state.state === 'loading' ? 'loading' : 'in memory'}, ${bytes(size)}`,
    ...(window === null ? [] : [`window ${count(window)}`]),
    ...(slots === null ? [] : [plural(slots, 'slot')]),
    ...(running + queued === 0 ? [] : [`${running} running, ${queued} waiting`]),
    ...(until === null ? [] : [`unloads at ${clock(Date.parse(until))}`]),
  ];
  return (
    <p class="in-memory">
      <span class="glow" aria-hidden="true" />
      {facts.join(' · ')}
    </p>
  );
}

function Fit({ id }: { id: string }) {
  const plan = plans.value[id];
  if (plan === undefined) return null;
  const devices = Object.entries(engineState.value?.devices ?? {});
  const { words } = planFit(plan, Object.fromEntries(devices.map(([name, each]) => [name, each.free_bytes])));
  return <p class="fit">{words}</p>;
}

function Details({ model }: { model: LibraryModel }) {
  const { digest, created, limits, signature } = model;
  // Without a template it takes conversations all the same, but its answers are continued text.
  const capabilities = isBaseModel(model) ? ['completions'] : (model.capabilities ?? []);
  return (
    <dl class="pairs">
      <Pair name="owner" value={model.owned_by} />
      {created === undefined ? null : <Pair name="installed" value={moment(created * 1000)} />}
      {capabilities.length === 0 ? null : <Pair name="supports" value={capabilities.join(', ')} />}
      {limits === undefined ? null : <Pair name="limits" value={limits} />}
      {digest === undefined ? null : <Pair name="digest" value={digest} />}
      {signature === undefined ? null : <Pair name="signature" value={signature.says} />}
    </dl>
  );
}

function modelFacts(model: LibraryModel): string[] {
  const { size_bytes: size, parameter_count: weights, context_length: context, architecture, quant } = model;
  return [
    ...(size === undefined ? [] : [bytes(size)]),
    ...(weights === undefined ? [] : [`${short(weights)} parameters`]),
    ...(context === undefined ? [] : [`context up to ${count(context)} tokens`]),
    ...(quant === undefined ? [] : [quant]),
    ...(architecture === undefined ? [] : [architecture]),
  ];
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(value);
