import { fail } from '../../lib/errors/svc-error.ts';

/** Why a signature does not hold, as the end of a sentence. */
export const fault = (reason: string): Error => fail('signature_invalid', { reason });
