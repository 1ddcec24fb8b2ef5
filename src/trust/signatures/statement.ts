import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { STATEMENT_TYPE } from '../evidence/statement.ts';
import { fault } from './fault.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const MODEL_SIGNATURE = 'https://model_signing/signature/v1.0';
/** Statements whose subjects are the files. One of another type may say anything about them, warnings included. */
const OF_SUBJECTS: readonly string[] = [
  // OpenSSF Model Signing before 1.0.
  'https://model_signing/Digests/v0.1',
  'https://slsa.dev/provenance/v0.2',
  'https://slsa.dev/provenance/v1',
  'https://sigstore.dev/cosign/sign/v1',
];
const MOST_ITEMS = 50_000;

const Name = Type.String({ minLength: 1, maxLength: 4096 });
const Hex = Type.String({ pattern: '^(?:[0-9a-f]{2}){16,64}$' });
const Subject = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 4096 })),
  digest: Type.Record(Type.String(), Type.String({ maxLength: 200 })),
});
const Statement = Type.Object({
  _type: Type.String(),
  predicateType: Type.String(),
  subject: Type.Array(Subject, { minItems: 1, maxItems: MOST_ITEMS }),
  predicate: Type.Optional(Type.Unknown()),
});
const Predicate = Type.Object({
  serialization: Type.Object({ method: Type.Enum(['files', 'shards']) }),
  resources: Type.Array(Type.Object({ name: Name, algorithm: Type.String(), digest: Hex }), {
    minItems: 1,
    maxItems: MOST_ITEMS,
  }),
});
type Resource = Static<typeof Predicate>['resources'][number];

export interface SignedPart {
  readonly algorithm: string;
  readonly digest: string;
  readonly range: readonly [start: number, end: number] | null;
}

/** Signed digests by file name, relative to the folder of the signature. */
export interface SignedFiles {
  readonly parts: ReadonlyMap<string, readonly SignedPart[]>;
  /** True: the names are those of the signer's build, and only their last parts count. */
  readonly isByBaseName: boolean;
}

export const THE_FILE = '.';

/** Throws signature_invalid. */
export function readStatement(payloadType: string, payload: Buffer): SignedFiles {
  const value = payloadType === PAYLOAD_TYPE ? parseJson(payload) : undefined;
  if (!Check(Statement, value) || value._type !== STATEMENT_TYPE)
    throw fault('it signs something else than a statement about files (in-toto, version 1)');
  if (value.predicateType === MODEL_SIGNATURE) return ofResources(value);
  if (OF_SUBJECTS.includes(value.predicateType)) return ofSubjects(value);
  throw fault(
    `its statement is of the type ${JSON.stringify(value.predicateType.slice(0, 100))}, which vouches for no model`,
  );
}

function ofResources({ subject, predicate }: Static<typeof Statement>): SignedFiles {
  if (!Check(Predicate, predicate)) throw fault('its list of files has another form than version 1.0');
  const { resources, serialization } = predicate;
  const root = createHash('sha256');
  for (const { digest } of resources) root.update(Buffer.from(digest, 'hex'));
  if (subject.length !== 1 || subject[0]?.digest['sha256'] !== root.digest('hex'))
    throw fault('its list of files does not match the digest of that list');
  const read = serialization.method === 'files' ? wholeFile : onePart;
  return { parts: grouped(resources.map(read)), isByBaseName: false };
}

const wholeFile = ({ name, algorithm, digest }: Resource): [string, SignedPart] => [
  name,
  { algorithm, digest, range: null },
];

function onePart({ name: shard, algorithm, digest }: Resource): [string, SignedPart] {
  const [, name, start, end] = /^(.+):(\d{1,15}):(\d{1,15})$/.exec(shard) ?? [];
  if (name === undefined) throw fault('it names a part of a file without its place');
  return [name, { algorithm, digest, range: [Number(start), Number(end)] }];
}

function ofSubjects({ subject, predicateType }: Static<typeof Statement>): SignedFiles {
  const entries = subject.flatMap(({ name, digest }): [string, SignedPart][] => {
    const { sha256 } = digest;
    if (name === undefined || sha256 === undefined || !Check(Hex, sha256)) return [];
    return [[name, { algorithm: 'sha256', digest: sha256, range: null }]];
  });
  return { parts: grouped(entries), isByBaseName: !predicateType.startsWith('https://model_signing/') };
}

function grouped(entries: readonly (readonly [string, SignedPart])[]): Map<string, SignedPart[]> {
  const all = new Map<string, SignedPart[]>();
  for (const [name, part] of entries) {
    const known = all.get(name);
    if (known === undefined) all.set(name, [part]);
    else known.push(part);
  }
  return all;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
