import { type Static, Type } from 'typebox';

/** `status` while the service shuts down. */
export const DRAINING = 'draining';

export const HealthResponse = Type.Object(
  {
    status: Type.String({
      description: `Liveness indicator: ok, or ${DRAINING} while the service shuts down.`,
    }),
    product: Type.String(),
    native_ready: Type.Boolean({ description: 'A backend is bound and hashable.' }),
  },
  { $id: 'HealthResponse' },
);
export type HealthResponse = Static<typeof HealthResponse>;

export const Readiness = Type.Object({ status: Type.Literal('ready') }, { $id: 'Readiness' });
export type Readiness = Static<typeof Readiness>;
