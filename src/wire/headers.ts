/** Header names of the interface and of Hearth's additions, as they are spelled on the wire. */
export const headerNames = {
  instanceId: 'X-Svc-Instance-Id',
  bootId: 'X-Svc-Boot-Id',
  evidenceMode: 'X-Svc-Evidence-Mode',
  evidenceDigest: 'X-Svc-Evidence-Digest',
  evidenceNonce: 'X-Svc-Evidence-Nonce',
  embedBackend: 'X-Svc-Embed-Backend',
  embeddingSpace: 'X-Svc-Embedding-Space',
  numCtx: 'X-Svc-Num-Ctx',
  ignoredParams: 'X-Svc-Ignored-Params',
  requestId: 'X-Request-Id',
  shouldRetry: 'x-should-retry',
} as const;

/** The server banner; a value of its own, not the version (interface, Versioning 3). */
export const serverBanner = 'hearth/1.2';

/** The one value of the evidence mode header. */
export const frozenMode = 'frozen-v1';
