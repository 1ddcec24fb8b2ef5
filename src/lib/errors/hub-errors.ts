import { permanent, transient } from './entry.ts';
import { quoted } from './quoted.ts';

export const hubErrors = {
  reference_invalid: permanent(
    'request',
    { ref: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${quoted(d.ref)} is not a model reference: ${d.reason}; write hf:user/repo, user/repo:QUANT, or the URL of a .gguf file.`,
  ),
  quant_not_found: permanent(
    'not_found',
    { repo: 'string', wanted: 'string', choices: 'string', param: 'string?' },
    (d) => `${d.repo} has no GGUF ${d.wanted}; available: ${d.choices}.`,
  ),
  sealed: permanent(
    'forbidden',
    {},
    () =>
      'Nothing is fetched, because this is sealed; leave out SVC_SEALED, or the option that seals, to reach a hub or a registry.',
  ),
  hub_offline: permanent(
    'unavailable',
    { param: 'string?' },
    () => 'Offline mode is on (HF_HUB_OFFLINE); unset it to pull, or use: hearth import FILE.',
  ),
  hub_unreachable: transient(
    'unavailable',
    { endpoint: 'string', reason: 'string', param: 'string?' },
    (d) => `The hub ${d.endpoint} could not be reached (${d.reason}); check the network and try again.`,
  ),
  hub_not_found: permanent(
    'not_found',
    { endpoint: 'string', what: 'string', param: 'string?' },
    (d) =>
      `${d.endpoint} has no ${d.what} that this user can access; check the spelling, or set HF_TOKEN if it is private.`,
  ),
  hub_gated: permanent(
    'store',
    { repo: 'string', url: 'string', param: 'string?' },
    (d) => `${d.repo} is gated: accept its terms at ${d.url}, then run the command again with HF_TOKEN set.`,
  ),
  hub_unauthorized: permanent(
    'store',
    { endpoint: 'string', repo: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${d.endpoint} denied access to ${d.repo} (${d.reason}); set a valid token in HF_TOKEN or with --token-file.`,
  ),
  hub_rate_limited: transient(
    'busy',
    { endpoint: 'string', retryAfterS: 'number', param: 'string?' },
    (d) =>
      `${d.endpoint} is limiting the rate of requests; try again in ${d.retryAfterS} s, or set HF_TOKEN for a higher limit.`,
  ),
  hub_refused: permanent(
    'store',
    { url: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `Hearth refused a request to ${quoted(d.url)} (${d.reason}); set HF_ENDPOINT or SVC_HUB_HOSTS only if you trust that host.`,
  ),
  hub_invalid: permanent(
    'store',
    { endpoint: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `${d.endpoint} sent an unusable response (${d.reason}); nothing was installed, try again later or use another source.`,
  ),
};
