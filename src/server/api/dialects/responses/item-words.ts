import { randomBytes } from 'node:crypto';
import type { Usage } from '../../../../contract/job-event.ts';
import type { ResponseUsage } from '../../../../wire/responses/response.ts';

export const newId = (prefix: 'resp' | 'msg' | 'rs' | 'fc' | 'ctc' | 'cmp' | 'item'): string =>
  `${prefix}_${randomBytes(24).toString('hex')}`;

const RESPONSE_ID = /^resp_[0-9a-f]{48}$/;
export const isResponseId = (id: string): boolean => RESPONSE_ID.test(id);

export function wireUsage(usage: Usage): ResponseUsage {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
