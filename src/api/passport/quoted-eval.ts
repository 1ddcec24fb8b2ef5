/** What `hearth eval` measured last, as its card says; the card itself is checked by `hearth evidence verify`. */
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { knownDigest, modelFiles } from '../../store/files/manifest.ts';
import { idToFileName } from '../../store/files/model-id.ts';
import { readKept } from '../../store/passports/findings.ts';
import { parsePayload } from '../../trust/evidence/verify.ts';
import type { InstalledModel } from '../../store/registry/registry.ts';

const Card = Type.Object({
  verdict: Type.String({ maxLength: 2000 }),
  findings: Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 64 }),
  evidence: Type.Object({ payload: Type.String() }),
});

const Statement = Type.Object({
  predicate: Type.Object({
    issuer: Type.Object({ issued_at: Type.String() }),
    model: Type.Object({ blob_sha256: Type.String() }),
    server: Type.Object({ version: Type.String() }),
    backend: Type.Object({ llama_commit: Type.String(), backend_sha256: Type.String() }),
  }),
});

export interface EvalQuote {
  readonly issued_at: string;
  readonly hearth: string;
  readonly library: { readonly release: string; readonly sha256: string };
  readonly verdict: string;
  readonly findings: readonly string[];
  readonly card: string;
}

/** Null: nothing was measured, or other bytes were. */
export async function quotedEval(home: string, model: InstalledModel): Promise<EvalQuote | null> {
  const file = path.join(home, 'evals', `${idToFileName(model.id)}.json`);
  const card = await readKept(file, Card);
  const statement = card === null ? null : readStatement(card);
  if (card === null || statement === null) return null;
  const { issuer, server, backend, model: measured } = statement.predicate;
  const [first] = modelFiles(model);
  if (first === undefined || knownDigest(first) !== measured.blob_sha256) return null;
  return {
    issued_at: issuer.issued_at,
    hearth: server.version,
    library: { release: backend.llama_commit, sha256: backend.backend_sha256 },
    verdict: card.verdict,
    findings: card.findings,
    card: file,
  };
}

function readStatement({ evidence }: Static<typeof Card>): Static<typeof Statement> | null {
  try {
    const value = parsePayload(Buffer.from(evidence.payload, 'base64'));
    return Check(Statement, value) ? value : null;
  } catch {
    // A card of another form says nothing here; `hearth evidence verify` names what is wrong with it.
    return null;
  }
}
