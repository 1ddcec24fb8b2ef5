import { type Static, Type } from 'typebox';
import type { Kind } from './findings.ts';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });

const CheckRecord = Type.Object({
  checkedAt: Text,
  hearth: Text,
  library: Type.Object({ release: Text, sha256: Type.Union([Text, Type.Null()]) }),
  settingsSha256: Text,
  toolFormat: Text,
  cases: Type.Object({ all: Count, passed: Count, left: Count, failed: Type.Array(Text) }),
  defects: Type.Array(Text),
});
export type CheckRecord = Static<typeof CheckRecord>;

export const CHECK: Kind<typeof CheckRecord> = { name: 'check', shape: CheckRecord };
