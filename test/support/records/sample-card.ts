/** The card of a made-up measurement, signed with a real key. */
import type { EvalFacts } from '../../../src/trust/evidence/eval-card.ts';
import { buildEvalCard } from '../../../src/trust/evidence/eval-card.ts';
import type { EvalReport, TextFigures } from '../../../src/trust/evidence/eval-statement.ts';
import { frozenFacts, sampleFacts } from './sample-record.ts';

const figures = (name: string): TextFigures => ({
  name,
  tokens: 40,
  perplexity: 4,
  bits_per_byte: 2,
  same_choice: 0.75,
  reference_bits_per_byte: 1,
});

export const sampleReport = (): EvalReport => ({
  object: 'svc.eval',
  model: 'tiny',
  verdict: 'Differs from big: the same choice in only 75.0 % of tokens.',
  findings: ['It needs 2.00 times the bits of big for the same text: damaged weights.'],
  whole: figures('all texts'),
  texts: [figures('prose')],
  own: null,
  cases: { all: 2, passed: 1, left: 0, failed: [{ name: 'a call', kind: 'call', reason: 'none came' }] },
  needle: { window: 512, tokens: 400, facts: 5, missed: [0.25] },
  not_tried: [],
  speed: { read_per_s: 100, written_per_s: 10.5 },
  memory_bytes: 1_000,
  against: {
    reference: 'big',
    tokens: 40,
    same_choice: 0.75,
    divergence: 0.5,
    loss_ratio: 2,
    read_ratio: 1,
    written_ratio: 1.5,
    memory_ratio: 0.5,
    differences: [],
  },
});

/** The card as `hearth eval --json` prints it. */
export function sampleCard(facts = sampleFacts(), over: Partial<EvalFacts> = {}) {
  const report = sampleReport();
  const digest = 'ab'.repeat(32);
  const { model, backend } = facts;
  const evidence = buildEvalCard(
    {
      model,
      reference: { ...model, id: 'big' },
      settings: { sha256: digest },
      set: { texts_sha256: digest },
      report,
      backend,
      host: frozenFacts.host,
      ...over,
    },
    facts,
  );
  return { ...report, evidence };
}
