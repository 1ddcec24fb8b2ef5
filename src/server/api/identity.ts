import type { Identity, IdentitySignature } from '../../wire/identity.ts';
import { endpoints } from '../../wire/routes.ts';
import { TOOL_PROTOCOL } from '../../wire/inference/tool-envelope.ts';
import type { Models } from './models/served-model.ts';

export const PRODUCT_NAME = 'hearth';

export interface ProcessIdentity {
  readonly version: string;
  readonly instanceId: string;
  readonly bootId: string;
}

export interface IdentityPorts {
  readonly process: ProcessIdentity;
  readonly models: Pick<Models, 'defaultId'>;
  readonly serverSourceSha256: () => Promise<string>;
  readonly backendSha256: () => Promise<string | null>;
  /** The release of the bound build, if Hearth's tests do not cover it. */
  readonly untestedRelease?: () => string | null;
  readonly isNativeReady: () => boolean;
  readonly sealed: () => Identity['sealed'] | null;
  readonly listUpstreams?: () => Promise<NonNullable<Identity['upstreams']>>;
  readonly sign: (body: Identity, nonce: string) => Promise<IdentitySignature>;
}

export async function identity(ports: IdentityPorts, nonce: string | undefined): Promise<Identity> {
  const sealed = ports.sealed();
  const untested = ports.untestedRelease?.() ?? null;
  const [source, backend, upstreams] = await Promise.all([
    ports.serverSourceSha256(),
    ports.backendSha256(),
    ports.listUpstreams?.() ?? [],
  ]);
  const body: Identity = {
    object: 'svc.identity',
    product: PRODUCT_NAME,
    version: ports.process.version,
    instance_id: ports.process.instanceId,
    boot_id: ports.process.bootId,
    server_source_sha256: source,
    backend_sha256: backend,
    ...(untested === null ? {} : { backend_untested: untested }),
    native_ready: ports.isNativeReady(),
    // Without an installed chat model there is only the alias.
    default_model: (await ports.models.defaultId('chat')) ?? 'default',
    endpoints: { ...endpoints },
    tool_protocol: TOOL_PROTOCOL,
    ...(sealed && { sealed }),
    ...(upstreams.length === 0 ? {} : { upstreams }),
  };
  return nonce === undefined ? body : { ...body, signature: await ports.sign(body, nonce) };
}
