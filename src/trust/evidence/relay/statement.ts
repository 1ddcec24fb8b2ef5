/**
 * trust/evidence/relay owns the record of an answer that another Hearth made and signed: a statement about what was
 * passed on, around the record of that Hearth. It does not know what came of the model: that is in the inner record only.
 * This schema is the source; docs/schemas/evidence-frozen-v1-relay.json is generated from it.
 */
import { type Static, Type } from '#typebox';
import { EXACT, Issuer, Request, Server, sha256, statementOf, text } from '../statement.ts';

export const RELAY_PREDICATE_TYPE = 'urn:svc:evidence:frozen-v1-relay';

const Upstream = Type.Object(
  {
    name: text('The upstream, as the issuer calls it.'),
    model: text('The model id there; the request that it answered is the request with this as `model`.'),
    instance_id: text('Its instance.', 64),
    boot_id: text('Its boot.', 64),
    public_key: text('The key that the issuer was told to expect there (PEM).', 1024),
    nonce: text('The nonce that the issuer drew for it.', 128),
    payload_sha256: sha256('The payload of its record, which stands in `evidence.upstream`.'),
  },
  EXACT,
);

const RelayPredicate = Type.Object(
  { issuer: Issuer, request: Request, model: text('Model id.'), server: Server, upstream: Upstream },
  EXACT,
);
export type RelayPredicate = Static<typeof RelayPredicate>;

export const RelayStatement = statementOf(RELAY_PREDICATE_TYPE, RelayPredicate, {
  $id: 'EvidenceFrozenV1Relay',
  title: 'frozen-v1 evidence of an upstream, passed on',
  outputTokens: 'As in the record of the upstream.',
});
export type RelayStatement = Static<typeof RelayStatement>;
