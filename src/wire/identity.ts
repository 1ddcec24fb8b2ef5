import { type Static, Type } from 'typebox';
import { ToolProtocol } from './inference/tool-envelope.ts';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** Requested with `?nonce=`; docs/identity.md specifies the signed bytes. */
export const IdentitySignature = Type.Object({
  alg: Type.Literal('Ed25519'),
  keyid: Type.String({ description: 'SHA-256 of the public key (SPKI, DER), hex.' }),
  nonce: Type.String(),
  address: Type.Optional(
    Type.String({ description: 'The host:port that the service listens on; signed too.' }),
  ),
  public_key: Type.String({ description: 'The public key as PEM.' }),
  key_history: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      description:
        'After a rotation: the first key and every hand-over, as hearth evidence pubkey --history prints them.',
    }),
  ),
  sig: Type.String({ description: 'Base64 of the signature.' }),
});

export type IdentitySignature = Static<typeof IdentitySignature>;

export const Identity = Type.Object(
  {
    object: Type.Literal('svc.identity'),
    product: Type.String(),
    version: Type.String(),
    instance_id: Type.String(),
    boot_id: Type.String(),
    server_source_sha256: Sha256,
    backend_sha256: Type.Union([Sha256, Type.Null()]),
    backend_untested: Type.Optional(
      Type.String({
        description:
          "The release of llama.cpp that the user's own build was made from, where Hearth's tests do not run on it; absent otherwise.",
      }),
    ),
    native_ready: Type.Boolean(),
    default_model: Type.String(),
    endpoints: Type.Record(Type.String(), Type.String()),
    tool_protocol: ToolProtocol,
    sealed: Type.Optional(
      Type.Object(
        {
          network: Type.String({ description: 'seccomp (the kernel), or socket-guard (Node alone).' }),
          worker_files: Type.Union([Type.String(), Type.Null()], {
            description: 'landlock or none; null while no worker has started.',
          }),
        },
        { description: 'The service and its workers open no connection; absent without --sealed.' },
      ),
    ),
    upstreams: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          dialect: Type.String(),
          privacy: Type.String({ description: 'Who can read what is sent there: local, lan or remote.' }),
          pinned: Type.Boolean({ description: 'Whether it has to prove whose key it holds.' }),
        }),
        { description: 'Services elsewhere whose models are served; absent without any.' },
      ),
    ),
    signature: Type.Optional(IdentitySignature),
  },
  { $id: 'Identity' },
);
export type Identity = Static<typeof Identity>;

export const IdentityQuery = Type.Object({
  nonce: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 256,
      description: 'Asks for a signature over this nonce and the identity.',
    }),
  ),
});
export type IdentityQuery = Static<typeof IdentityQuery>;
