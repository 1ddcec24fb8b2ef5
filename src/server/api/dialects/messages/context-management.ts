import { type Fields, isFields } from '../../../../lib/base/json.ts';
import type { Compaction } from '../../../../contract/job-event.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import type { ContextManagement } from '../../../../wire/messages/response.ts';
import { summaryIn } from '../../chat/compaction/summary.ts';
import type { AnswerBlock } from '../../../../wire/messages/blocks.ts';
import { sealTurns } from '../sealed-turns.ts';
import type { ContextEdit, Trigger } from '../../../engine/ports.ts';
import { fieldsAt, typeAt } from '../fields.ts';

export const RESULTS = 'clear_tool_uses_20250919';
export const THINKING = 'clear_thinking_20251015';
const COMPACT = 'compact_20260112';

const USUAL = { triggerTokens: 100_000, keptResults: 3, keptThinking: 1, compactTokens: 150_000 };

export interface AskedEdits {
  readonly edits: readonly ContextEdit[] | undefined;
  readonly ignored: readonly string[];
}

export function readEdits(management: Fields | null | undefined): AskedEdits {
  if (management === null || management === undefined) return { edits: undefined, ignored: [] };
  const given = management['edits'] ?? [];
  if (!Array.isArray(given)) throw refusal('context_management.edits', 'must be a list');
  const edits: ContextEdit[] = [];
  const ignored: string[] = [];
  for (const [index, each] of given.entries()) {
    const path = `context_management.edits[${index}]`;
    const edit = fieldsAt(each, path);
    if (edit['type'] === RESULTS) {
      edits.push(clearResults(edit, path));
    } else if (edit['type'] === THINKING) {
      edits.push(...clearThinking(edit, path));
    } else if (edit['type'] === COMPACT) {
      edits.push(summary(edit, path));
      if (edit['pause_after_compaction'] === true) ignored.push(`${path}.pause_after_compaction`);
    } else {
      ignored.push(`${path}.${typeAt(edit, path)}`);
    }
  }
  return { edits, ignored };
}

function clearResults(edit: Fields, path: string): ContextEdit {
  const exclude = edit['exclude_tools'] ?? [];
  if (!isNames(exclude)) throw refusal(`${path}.exclude_tools`, 'must be a list of names');
  const inputs = edit['clear_tool_inputs'] ?? false;
  if (typeof inputs !== 'boolean' && !isNames(inputs))
    throw refusal(`${path}.clear_tool_inputs`, 'must be true, false or a list of names');
  return {
    kind: 'results',
    trigger: readTrigger(edit['trigger'], `${path}.trigger`),
    keep: readValue(edit['keep'], `${path}.keep`, ['tool_uses']) ?? USUAL.keptResults,
    step: 1,
    atLeastTokens: readValue(edit['clear_at_least'], `${path}.clear_at_least`, ['input_tokens']) ?? 0,
    exclude,
    clearsInputs: inputs,
  };
}

function clearThinking(edit: Fields, path: string): ContextEdit[] {
  const { keep } = edit;
  if (keep === 'all' || (isFields(keep) && keep['type'] === 'all')) return [];
  const kept = readValue(keep, `${path}.keep`, ['thinking_turns']) ?? USUAL.keptThinking;
  if (kept < 1) throw refusal(`${path}.keep.value`, 'must be at least 1');
  return [{ kind: 'thinking', keep: kept }];
}

function summary(edit: Fields, path: string): ContextEdit {
  const instructions = edit['instructions'] ?? undefined;
  if (instructions !== undefined && (typeof instructions !== 'string' || instructions === ''))
    throw refusal(`${path}.instructions`, 'must be a text that is not empty');
  const value = readValue(edit['trigger'], `${path}.trigger`, ['input_tokens']) ?? USUAL.compactTokens;
  const trigger = { of: 'tokens', value } as const;
  return {
    kind: 'summary',
    trigger,
    ...(instructions !== undefined && { instructions: instructions.toWellFormed() }),
  };
}

export const asksSummary = (management: Fields | null | undefined): boolean =>
  readEdits(management).edits?.some(({ kind }) => kind === 'summary') === true;

export function compactionBlocks(
  asked: boolean,
  compaction: Compaction | undefined,
): Extract<AnswerBlock, { type: 'compaction' }>[] {
  const turns = compaction?.turns;
  if (!asked || turns === undefined) return [];
  return [{ type: 'compaction', content: summaryIn(turns), encrypted_content: sealTurns(turns) }];
}

function readTrigger(trigger: unknown, path: string): Trigger {
  const value = readValue(trigger, path, ['input_tokens', 'tool_uses']);
  if (value === null) return { of: 'tokens', value: USUAL.triggerTokens };
  return { of: isFields(trigger) && trigger['type'] === 'tool_uses' ? 'calls' : 'tokens', value };
}

function readValue(given: unknown, path: string, types: readonly string[]): number | null {
  if (given === undefined || given === null) return null;
  const { type, value } = fieldsAt(given, path);
  if (!types.some((each) => each === type))
    throw refusal(`${path}.type`, `must be ${types.map((each) => `"${each}"`).join(' or ')}`);
  if (!Number.isSafeInteger(value) || Number(value) < 0)
    throw refusal(`${path}.value`, 'must be a whole number from 0');
  return Number(value);
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

export function wireApplied(
  asked: boolean,
  compaction: Compaction | undefined,
): { readonly context_management?: ContextManagement } {
  if (!asked) return {};
  type Applied = ContextManagement['applied_edits'];
  const edits = (compaction?.edits ?? []).flatMap(({ kind, count, tokens }): Applied => {
    if (kind === 'results')
      return [{ type: RESULTS, cleared_tool_uses: count, cleared_input_tokens: tokens }];
    if (kind === 'thinking')
      return [{ type: THINKING, cleared_thinking_turns: count, cleared_input_tokens: tokens }];
    return [];
  });
  return { context_management: { applied_edits: edits } };
}
