/** What transformers passes to a template beside a conversation. */
import { OwnWords } from '../src/jinja/values/convert.ts';
import { strftime } from '../src/strftime.ts';

/** 2026-03-07 09:05:02, the date of the reference. */
const CLOCK_MS = Date.UTC(2026, 2, 7, 9, 5, 2);

export const surroundings: Readonly<Record<string, unknown>> = {
  documents: null,
  add_generation_prompt: true,
  bos_token: new OwnWords('<s>'),
  eos_token: new OwnWords('</s>'),
  strftime_now: (format: string) => strftime(format, CLOCK_MS),
};
