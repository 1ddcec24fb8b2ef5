import { Options } from '../parts/options.tsx';
import { menuWith } from '../service/known.ts';
import { type Lane, withModel } from './talk/conversation.ts';
import { changeCurrent } from './talk/conversations.ts';

export function ModelChoice({ lane, at }: { lane: Lane; at: number }) {
  return (
    <label class="choice">
      <span class="unseen">Model of column {at + 1}</span>
      <select
        value={lane.model}
        onChange={({ currentTarget }) => changeCurrent((now) => withModel(now, at, currentTarget.value))}
      >
        <Options of={menuWith(lane.model)} />
      </select>
    </label>
  );
}
