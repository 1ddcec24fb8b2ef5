import { printable, printableText } from '../context.ts';

type Facts = Readonly<Record<string, unknown>>;

export function readableLine(json: string): string {
  const { level, time, msg = '', err, stack: given, ...rest } = JSON.parse(json) as Facts;
  const stack = (err as { stack?: string } | undefined)?.stack ?? (given as string | undefined);
  const head = [String(time).slice(11, 19), ...(level === 'info' ? [] : [String(level)])];
  const said = 'method' in rest && 'ms' in rest ? requestWords(rest) : [String(msg), ...pairs(rest)];
  const trace = stack === undefined ? '' : `${printableText(stack)}\n`;
  return `${printable([...head, ...said].join(' '))}\n${trace}`;
}

function requestWords(facts: Facts): string[] {
  const { method, route, status, model, ms, promptTokens, cachedTokens, completionTokens, ...rest } = facts;
  const cached = Number(cachedTokens ?? 0) > 0 ? ` (${String(cachedTokens)} cached)` : '';
  const written = completionTokens === undefined ? '' : ` → ${String(completionTokens)}`;
  return [
    String(method),
    String(route),
    String(status),
    ...(model === undefined ? [] : [String(model)]),
    `${String(ms)} ms`,
    ...(promptTokens === undefined ? [] : [`${String(promptTokens)}${cached}${written} tokens`]),
    ...pairs(rest),
  ];
}

const pairs = (facts: Facts): string[] =>
  Object.entries(facts).map(([name, value]) => `${name}=${shown(value)}`);

function shown(value: unknown): string {
  return typeof value === 'string' && !/[\s="]/.test(value) ? value : JSON.stringify(value);
}
