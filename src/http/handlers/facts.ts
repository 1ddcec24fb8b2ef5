/** The GET routes. */
import { fail } from '../../lib/errors/svc-error.ts';
import type { IdentityQuery } from '../../wire/identity.ts';
import { health } from '../../api/health.ts';
import { identity } from '../../api/identity.ts';
import { listModels, showModel } from '../../api/models.ts';
import type { Service } from '../../api/service.ts';
import type { Handler } from './handler.ts';

export function healthHandler(service: Service): Handler {
  return async () => health(service);
}

export function identityHandler(service: Service): Handler {
  return async (request) => identity(service, (request.query as IdentityQuery).nonce);
}

export function modelsHandler(service: Service): Handler {
  return async () => listModels(service);
}

export function modelHandler(service: Service): Handler {
  return async (request) => {
    const name = (request.params as { '*': string })['*'];
    if (name === '') throw fail('model_not_found', { model: name, param: 'model' });
    return showModel(service, name);
  };
}
