import { permanent, transient } from './entry.ts';

const LATE: Readonly<Record<string, string>> = {
  first_byte: 'did not begin to answer',
  stall: 'sent nothing more of its answer',
  whole: 'did not finish its answer',
};

/** The address belongs to something other than an engine, so a repeat is useless. */
const isOther = (what: string): boolean => what === 'content_type' || what === 'redirect';

export const upstreamErrors = {
  upstream_unreachable: transient(
    'unavailable',
    { upstream: 'string', reason: 'string' },
    (d) =>
      `Upstream "${d.upstream}" cannot be reached (${d.reason}); start it, or check its address: hearth upstream show ${d.upstream}.`,
  ),
  /** `phase`: first_byte, stall or whole. */
  upstream_timeout: transient(
    'unavailable',
    { upstream: 'string', phase: 'string', seconds: 'number' },
    (d) =>
      `Upstream "${d.upstream}" ${LATE[d.phase] ?? d.phase} within ${d.seconds} s; send the request again.`,
  ),
  upstream_busy: transient(
    'busy',
    { upstream: 'string', status: 'number', retryAfterS: 'number' },
    (d) =>
      `Upstream "${d.upstream}" takes no further requests now (status ${d.status}); try again in ${d.retryAfterS} s.`,
  ),
  upstream_refused: permanent(
    'request',
    { upstream: 'string', status: 'number', message: 'string', param: 'string?' },
    (d) => `Upstream "${d.upstream}" refuses the request (status ${d.status}): ${d.message}.`,
  ),
  upstream_denied: permanent(
    'unavailable',
    { upstream: 'string', status: 'number', hasKey: 'boolean' },
    (d) =>
      d.hasKey
        ? `Upstream "${d.upstream}" does not accept Hearth's key (status ${d.status}); check --key-env or --key-file of hearth upstream add.`
        : `Upstream "${d.upstream}" asks for a key (status ${d.status}); name one with --key-env or --key-file of hearth upstream add.`,
  ),
  upstream_key_missing: permanent(
    'unavailable',
    { upstream: 'string', reason: 'string' },
    (d) => `The key of upstream "${d.upstream}" cannot be read: ${d.reason}.`,
  ),
  upstream_unproved: permanent(
    'unavailable',
    { upstream: 'string', reason: 'string' },
    (d) =>
      `Upstream "${d.upstream}" does not prove that it is the Hearth whose public key is pinned (${d.reason}); nothing was sent to it.`,
  ),
  upstream_model_gone: permanent(
    'not_found',
    { upstream: 'string', model: 'string', param: 'string?' },
    (d) =>
      `Upstream "${d.upstream}" has no model "${d.model}"; choose one from GET /v1/models, or start the model there.`,
  ),
  upstream_failed: transient(
    'unavailable',
    { upstream: 'string', status: 'number', message: 'string' },
    (d) => `Upstream "${d.upstream}" failed (status ${d.status}): ${d.message}.`,
    (d) => d.status === 501 || d.status === 505,
  ),
  /** Truncated or invalid answer. `what`: cut, rubbish, content_type, redirect. */
  upstream_broken: transient(
    'unavailable',
    { upstream: 'string', what: 'string', reason: 'string' },
    (d) =>
      `The answer of upstream "${d.upstream}" is not usable (${d.what}): ${d.reason}; ${isOther(d.what) ? `check its address: hearth upstream show ${d.upstream}` : 'send the request again'}.`,
    (d) => isOther(d.what),
  ),
  engines_sealed: permanent(
    'forbidden',
    { names: 'string', param: 'string?' },
    (d) =>
      `A sealed service (SVC_SEALED) opens no connection, so it cannot serve the models of ${d.names}; start it without the seal, or remove them with: hearth upstream rm, or hearth engine rm.`,
  ),
  upstream_name_taken: permanent(
    'request',
    { name: 'string', reason: 'string' },
    (d) => `"${d.name}" cannot be the name of an engine: ${d.reason}; choose another name.`,
  ),
  engine_not_found: permanent(
    'not_found',
    { name: 'string' },
    (d) =>
      `There is no upstream, engine or pool "${d.name}"; hearth upstream list, hearth engine list and hearth pool list show what there is.`,
  ),
};

export const balanceErrors = {
  upstreams_private: permanent(
    'forbidden',
    { model: 'string', farthest: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" runs farther away than this request may go, which is ${d.farthest === 'lan' ? 'the local network' : 'this machine'}; choose another model from GET /v1/models.`,
  ),
  upstreams_down: transient(
    'unavailable',
    { model: 'string', states: 'string', retryAfterS: 'number' },
    (d) =>
      `No upstream of model "${d.model}" can answer now (${d.states}); try again in ${d.retryAfterS} s, or look at them with: hearth ps.`,
  ),
  answer_not_resumed: transient(
    'unavailable',
    { reason: 'string', why: 'string' },
    (d) => `${d.reason} The answer could not go on elsewhere, because ${d.why}.`,
  ),
};
