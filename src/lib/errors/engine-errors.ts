import { permanent, transient } from './entry.ts';

export const engineErrors = {
  queue_full: transient(
    'busy',
    { limit: 'number', retryAfterS: 'number' },
    (d) => `The queue is full (${d.limit} requests waiting); try again in ${d.retryAfterS} s.`,
  ),
  draining: transient(
    'unavailable',
    { retryAfterS: 'number?' },
    () => 'The service is shutting down; try again once it is back.',
  ),
  starting: transient('unavailable', {}, () => 'The service is starting; try again in a few seconds.'),
  native_unavailable: permanent(
    'unavailable',
    { reason: 'string' },
    (d) =>
      `No native backend is available: ${d.reason}; hearth doctor says what helps, then restart hearth serve.`,
  ),
  files_changed: permanent(
    'unavailable',
    { reason: 'string' },
    (d) => `Files of Hearth changed while it was running (${d.reason}); restart the service.`,
  ),
  out_of_memory: permanent(
    'unavailable',
    { model: 'string', reason: 'string' },
    (d) =>
      `There is not enough free memory for model "${d.model}" (${d.reason}); use a smaller model or a smaller num_ctx.`,
  ),
  load_failed: permanent(
    'unavailable',
    { model: 'string', reason: 'string', remedy: 'string?' },
    (d) =>
      `Model "${d.model}" could not be loaded: ${d.reason}; ${d.remedy ?? 'check that its file is complete (hearth verify, if it is installed), or use another model'}.`,
  ),
  load_setting_unusable: permanent(
    'unavailable',
    { model: 'string', setting: 'string', reason: 'string' },
    (d) =>
      `Model "${d.model}" cannot be loaded with ${d.setting} as it is set (${d.reason}); change it with hearth set, or remove it (hearth set ${d.model} ${d.setting}=).`,
  ),
  model_quarantined: permanent(
    'unavailable',
    { model: 'string', reason: 'string', retryAfterS: 'number' },
    (d) =>
      `Model "${d.model}" failed to load repeatedly (${d.reason}) and is quarantined; try again in ${d.retryAfterS} s or run: hearth verify ${d.model}.`,
  ),
  model_damaged: permanent(
    'unavailable',
    { model: 'string', reason: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" has changed on disk since it was installed, or is missing (${d.reason}); run: hearth verify ${d.model}.`,
  ),
  /** `outside`: ended by an operator or the system, so that no request is to blame. */
  worker_crashed: transient(
    'unavailable',
    { model: 'string', reason: 'string', outside: 'boolean?' },
    (d) =>
      `The process that runs model "${d.model}" stopped (${d.reason}) before the answer was complete; send the request again.`,
  ),
  worker_hung: transient(
    'unavailable',
    { model: 'string', reason: 'string' },
    (d) =>
      `The process that runs model "${d.model}" stopped responding (${d.reason}) and was terminated; send the request again.`,
  ),
  poison_request: permanent(
    'engine',
    { crashes: 'number', refusedS: 'number' },
    (d) =>
      `This request crashed the worker ${d.crashes} times and is refused for ${d.refusedS} s; change the request or the model.`,
  ),
  answer_invalid: transient(
    'engine',
    { what: 'string', reason: 'string', repeats: 'boolean?' },
    (d) =>
      `${d.what} does not have the requested shape: ${d.reason}; ${d.repeats === true ? 'change the messages, the schema or the seed, because the same request gets the same answer' : 'send the request again'}.`,
    (d) => d.repeats === true,
  ),
  evidence_unavailable: permanent(
    'unavailable',
    { reason: 'string' },
    (d) =>
      `This request cannot be run as frozen-v1 (${d.reason}); without the X-Svc-Evidence-Mode header it can be answered, but not proved.`,
  ),
  cancelled: transient('cancelled', {}, () => 'The client cancelled the request.'),
  client_stalled: permanent(
    'cancelled',
    { seconds: 'number' },
    (d) =>
      `The client kept the connection open but read nothing for ${d.seconds} s, so Hearth closed it; read the answer while it arrives.`,
  ),
  /** Clients do not automatically repeat requests of this family. */
  stopped_by_operator: permanent(
    'forbidden',
    {},
    () => 'An operator of this service stopped the request; ask them before you send it again.',
  ),
  /** `reason` is for logs; the sentence reveals no internals. */
  internal: permanent(
    'bug',
    { reason: 'string?' },
    () => 'Hearth failed unexpectedly; the log has the details.',
  ),
};
