/**
 * ui/parts owns small pieces that several views show. It knows no view and sends nothing to the service. This file:
 * the bar of tokens reused, prefilled, generated, and drafted.
 */
export interface Trace {
  readonly cached: number;
  readonly prefilled: number;
  /** Prompt tokens still to be prefilled. */
  readonly ahead?: number;
  readonly generated: number;
  readonly drafted?: number;
  /** Tokens of the whole width; absent: the sum of the parts. */
  readonly room?: number;
}

export function TraceBar({ trace, label }: { trace: Trace; label: string }) {
  const { cached, prefilled, ahead = 0, generated, drafted = 0 } = trace;
  const room = Math.max(1, trace.room ?? 0, cached + prefilled + ahead + generated);
  const share = (tokens: number) => `${(100 * tokens) / room}%`;
  const parts = [
    ['cached', cached],
    ['prefilled', prefilled],
    ['ahead', Math.max(0, ahead)],
    ['generated', Math.max(0, generated - drafted)],
    ['drafted', drafted],
  ] as const;
  return (
    <div class="trace" role="img" aria-label={label}>
      {parts.map(([name, tokens]) => (
        <i key={name} class={name} style={{ width: share(tokens) }} />
      ))}
    </div>
  );
}

const KEY = [
  ['cached', 'reused', 'Tokens of the prompt whose state was in the cache'],
  ['prefilled', 'processed', 'Tokens of the prompt that were evaluated (prefill)'],
  ['ahead', 'still to process', 'Tokens of the prompt that are evaluated next (prefill)'],
  ['generated', 'generated', 'Tokens of the answer (decode)'],
  ['drafted', 'drafted', 'Tokens of the answer that were drafted and accepted (speculative decoding)'],
] as const;

export function TraceKey() {
  return (
    <ul class="trace-key">
      {KEY.map(([name, words, about]) => (
        <li key={name} class={name} title={about}>
          {words}
        </li>
      ))}
    </ul>
  );
}
