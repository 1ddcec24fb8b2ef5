/**
 * lib/prompt-cache owns knowledge about nearly equal prompts: lines that spoil the cache, and reasons for
 * differences. It knows nothing of models, engines or the wire. This file: lines of system prompts that mean nothing
 * to a model and change with each request, so that nothing after them could be reused.
 */

interface VolatileLine {
  readonly name: string;
  readonly sender: string;
  /** The whole line with its end, or its part without words; must be linear in the length of the text. */
  readonly pattern: RegExp;
}

/** Only protocol headers that a client inserted into its text belong here. */
export const VOLATILE_LINES: readonly VolatileLine[] = [
  {
    name: 'x-anthropic-billing-header',
    sender: 'Claude Code',
    // Pairs with their semicolons: gateways join the line to the following words without a line break.
    pattern: /^x-anthropic-billing-header:(?:[ \t]*[\w.-]+=[^;\s]*(?:;|$))+[ \t]*\n{0,2}/gm,
  },
  {
    name: 'traceparent',
    sender: 'gateways that trace requests (W3C Trace Context)',
    pattern: /^traceparent:[ \t]*[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}[ \t]*(?:\n{1,2}|$)/gim,
  },
  {
    name: 'x-request-id',
    sender: 'gateways that number requests',
    pattern: /^x-request-id:[ \t]*[\w.-]{1,128}[ \t]*(?:\n{1,2}|$)/gim,
  },
];

export const VOLATILE_TREATMENTS = ['drop', 'move', 'keep'] as const;
export type VolatileTreatment = (typeof VOLATILE_TREATMENTS)[number];

interface WithoutVolatileLines {
  readonly text: string;
  readonly lines: readonly { readonly name: string; readonly line: string }[];
}

export function withoutVolatileLines(text: string): WithoutVolatileLines {
  const lines: { name: string; line: string }[] = [];
  const rest = VOLATILE_LINES.reduce(
    (left, { name, pattern }) =>
      left.replace(pattern, (line) => {
        lines.push({ name, line: line.trim() });
        return '';
      }),
    text,
  );
  return { text: lines.length === 0 ? text : rest, lines };
}
