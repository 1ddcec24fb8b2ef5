/** Why none of several upstreams takes a request, or goes on with an answer. */
import { permanent, transient } from './entry.ts';

export const balanceErrors = {
  upstreams_private: permanent(
    'forbidden',
    { model: 'string', farthest: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" runs farther away than this request may go, which is ${d.farthest === 'lan' ? 'the local network' : 'this machine'}; choose another model from GET /v1/models.`,
  ),
  /** `states`: what keeps each from answering. */
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
