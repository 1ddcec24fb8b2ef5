/**
 * cli/doctor owns the checks of `hearth doctor`, each a look at the machine and a verdict. It knows nothing of how
 * findings are shown, and it changes nothing.
 */
import { errorMessage } from '../../lib/errors/svc-error.ts';
export type Verdict = 'ok' | 'warning' | 'problem';

export interface Finding {
  readonly about: string;
  readonly verdict: Verdict;
  readonly found: string;
  readonly remedy?: string;
}

/** A check that fails becomes a problem of its own. */
export interface Check {
  readonly about: string;
  look(): Promise<Finding | readonly Finding[]>;
}

export const ok = (about: string, found: string): Finding => ({ about, verdict: 'ok', found });

export const warning = (about: string, found: string, remedy: string): Finding => ({
  about,
  verdict: 'warning',
  found,
  remedy,
});

export const problem = (about: string, found: string, remedy: string): Finding => ({
  about,
  verdict: 'problem',
  found,
  remedy,
});

export async function examine(checks: readonly Check[]): Promise<Finding[]> {
  const findings = await Promise.all(
    checks.map(async ({ about, look }) => {
      try {
        return await look();
      } catch (error) {
        const reason = errorMessage(error);
        return problem(
          about,
          `could not be checked: ${reason}`,
          'see the reason; then run hearth doctor again',
        );
      }
    }),
  );
  return findings.flat();
}
