import { fail } from '../../lib/errors/svc-error.ts';

/** A signature's problem, as the end of a sentence. */
export const fault = (reason: string): Error => fail('signature_invalid', { reason });
