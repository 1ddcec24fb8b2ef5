/** The last evaluation of a model, as the page shows it. */
import type { InstalledModel } from '../../../store/registry/registry.ts';
import type { ModelEval } from '../../../wire/operation/library.ts';
import { lastCard } from './card.ts';
import { evalBars } from './eval-bars.ts';

/** Null: not measured, or by a card that this home did not sign. */
export async function showEval(home: string, model: InstalledModel): Promise<ModelEval['eval']> {
  const card = await lastCard(home, model);
  if (card === null) return null;
  const { verdict, findings } = card.report;
  return {
    verdict,
    findings: [...findings],
    measured_at: card.issuedAt,
    outdated: card.outdated,
    plot: evalBars(card.report),
  };
}
