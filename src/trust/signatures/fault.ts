/** Why a signature does not hold, as the end of a sentence. It never leaves this room. */
export class SignatureFault extends Error {}

export const fault = (reason: string): SignatureFault => new SignatureFault(reason);
