import { fail } from '../../lib/errors/svc-error.ts';

/** `reason` is the end of a sentence. */
export const fault = (reason: string): Error => fail('signature_invalid', { reason });
