import type { Identity } from '../wire/identity.ts';
import { endpoints } from '../wire/routes.ts';
import { toolProtocol } from '../wire/inference/tool-envelope.ts';
import { signIdentity } from '../trust/identity/sign-identity.ts';
import type { Service } from './service.ts';

export const productName = 'hearth';

/** The identity that the process is bound to; with a nonce, signed by the key of this instance. */
export async function identity(service: Service, nonce: string | undefined): Promise<Identity> {
  const facts = service.identity;
  const [source, backend] = await Promise.all([facts.serverSourceSha256(), facts.backend()]);
  const body: Identity = {
    object: 'svc.identity',
    product: productName,
    version: facts.version,
    instance_id: facts.instanceId,
    boot_id: facts.bootId,
    server_source_sha256: source,
    backend_sha256: backend?.sha256 ?? null,
    native_ready: facts.nativeReady(),
    // Before any chat model is installed there is only the alias to name.
    default_model: (await service.registry.defaultId('chat')) ?? 'default',
    endpoints: { ...endpoints },
    tool_protocol: toolProtocol,
  };
  return nonce === undefined
    ? body
    : { ...body, signature: signIdentity(body, nonce, facts.keys, facts.address()) };
}
