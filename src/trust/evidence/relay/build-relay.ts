/** Makes the record of an answer that an upstream signed: checks what it signed, and states what was passed on. */
import { fail } from '../../../lib/errors/svc-error.ts';
import { sha256Hex } from '../../identity/canonical.ts';
import { type Envelope, seal } from '../../identity/dsse.ts';
import type { FrozenRequest } from '../freeze.ts';
import {
  type AnsweredResponse,
  type EvidenceFacts,
  type EvidenceMember,
  issuerOf,
  requestOf,
  responseSha256,
} from '../record.ts';
import { EVIDENCE_PAYLOAD_TYPE, STATEMENT_TYPE } from '../statement.ts';
import { openRecord } from '../verify.ts';
import { RELAY_PREDICATE_TYPE, type RelayStatement } from './statement.ts';
import { checkRelayed } from './verify-relay.ts';

/** What went to an upstream, and what came back. */
export interface Relayed {
  readonly request: FrozenRequest;
  /** The answer as the client gets it, under the model's id here. */
  readonly response: AnsweredResponse;
  readonly upstream: {
    readonly name: string;
    readonly model: string;
    /** PEM. */
    readonly publicKey: string;
    readonly nonce: string;
    /** The request as it was sent there. */
    readonly request: Readonly<Record<string, unknown>>;
    /** Its whole body, `evidence` included; hostile. */
    readonly response: unknown;
  };
}

type RelayFacts = Relayed & Pick<EvidenceFacts, 'identity' | 'chain' | 'server' | 'nowMs'>;

export interface RelayEvidence {
  /** A DSSE envelope; `upstream` is the member `evidence` of the upstream's answer. */
  readonly member: Envelope & { readonly upstream: EvidenceMember };
  /** Names the signed statement; lower-case hex. */
  readonly payloadSha256: string;
}

export function buildRelay(facts: RelayFacts): RelayEvidence {
  const { identity, chain, request, response, upstream } = facts;
  const { model, nonce, publicKey: public_key } = upstream;
  const record = openRecord(upstream.response);
  const bytes = Buffer.from(JSON.stringify(upstream.request));
  const { findings, statement } = checkRelayed(
    { record, request: { bytes, value: upstream.request } },
    { public_key, nonce },
  );
  const wrong = findings.find(({ outcome }) => outcome === 'failed' || outcome === 'incomparable');
  if (statement === null || wrong !== undefined || record.response === null || record.outputTokens === null) {
    const reason = wrong === undefined ? 'it is not whole' : `${wrong.name}: ${wrong.detail}`;
    throw fail('evidence_unavailable', {
      reason: `the record of upstream "${upstream.name}" does not hold (${reason})`,
    });
  }
  const { issuer } = statement.predicate;
  const payload = chain.append((link) => {
    const relay: RelayStatement = {
      _type: STATEMENT_TYPE,
      subject: [
        { name: 'response', digest: { sha256: responseSha256(response) } },
        { name: 'output-tokens', digest: { sha256: statement.subject[1].digest.sha256 } },
      ],
      predicateType: RELAY_PREDICATE_TYPE,
      predicate: {
        issuer: issuerOf(identity, link, facts.nowMs),
        request: requestOf(request),
        model: response.model,
        server: facts.server,
        upstream: {
          name: upstream.name,
          model,
          instance_id: issuer.instance_id,
          boot_id: issuer.boot_id,
          public_key,
          nonce,
          payload_sha256: sha256Hex(record.payload),
        },
      },
    };
    return Buffer.from(JSON.stringify(relay));
  });
  const member = {
    ...seal(identity.keys, EVIDENCE_PAYLOAD_TYPE, payload),
    upstream: { ...record.envelope, output_tokens: record.outputTokens.toString('base64') },
  };
  return { member, payloadSha256: sha256Hex(payload) };
}
