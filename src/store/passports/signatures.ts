import { type Static, type TSchema, Type } from 'typebox';
import type { Kind } from './findings.ts';

const Text = Type.String();
const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const SignatureRecord = Type.Object({
  checkedAt: Text,
  files: Type.Array(
    Type.Object({
      name: Text,
      state: Type.Enum(['trusted', 'unlisted', 'failed', 'unsigned']),
      signature: orNull(Text),
      signer: orNull(
        Type.Union([
          Type.Object({ kind: Type.Literal('key'), fingerprint: orNull(Text) }),
          Type.Object({ kind: Type.Literal('certificate'), subject: Text, authority: orNull(Text) }),
          Type.Object({ kind: Type.Literal('identity'), identity: Text, issuer: Text }),
        ]),
      ),
      reason: orNull(Text),
    }),
  ),
});
export type SignatureRecord = Static<typeof SignatureRecord>;

export const SIGNATURES: Kind<typeof SignatureRecord> = { name: 'signatures', shape: SignatureRecord };
