import type { ModelFormatFacts } from '../../contract/job-event.ts';
import { CHECK_CASES, type CheckCase } from './cases.ts';

export interface FailedCase extends Pick<CheckCase, 'name' | 'kind'> {
  readonly reason: string;
}

/** What a user of the model should know, beside single cases that failed. */
export function defectsOf(format: ModelFormatFacts | null, failed: readonly FailedCase[]): string[] {
  return [...(format === null ? [] : templateDefects(format, failed)), ...historyDefects(failed)];
}

function templateDefects({ template, format }: ModelFormatFacts, failed: readonly FailedCase[]): string[] {
  if (template === 'none')
    return ['The file has no chat template: it may be a base model, and ChatML stands in.'];
  if (format.tools !== null) {
    const isLost = format.history.calls === 'text';
    return isLost
      ? ['The template drops past calls of tools; Hearth writes them into the conversation.']
      : [];
  }
  // Models may be trained on the envelope, so that only its failures are a defect.
  const calls = failed.filter(({ kind }) => kind === 'call').length;
  if (calls === 0) return [];
  const all = CHECK_CASES.filter(({ kind }) => kind === 'call').length;
  return [
    `The template shows no call of a tool, so tools are put as svc-tool-envelope, and ${calls} of ${all} calls failed.`,
  ];
}

function historyDefects(failed: readonly FailedCase[]): string[] {
  const lost = failed
    .filter(({ kind }) => kind === 'render')
    .map(({ name }) => name.replace('history: ', ''));
  return lost.length === 0 ? [] : [`The template loses parts of conversations: ${lost.join(', ')}.`];
}
