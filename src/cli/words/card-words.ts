import type { LastCard } from '../../server/api/eval/card.ts';

export function cardWords({ report, issuedAt, outdated }: LastCard): string {
  const since = outdated === null ? '' : `, before its ${outdated} changed`;
  return `${report.verdict} (hearth eval, ${issuedAt.slice(0, 10)}${since})`;
}
