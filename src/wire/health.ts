import { type Static, Type } from '#typebox';

export const HealthResponse = Type.Object(
  {
    status: Type.String({ description: 'Liveness indicator: ok, or draining while the service shuts down.' }),
    product: Type.String(),
    native_ready: Type.Boolean({ description: 'A backend is bound and hashable.' }),
  },
  { $id: 'HealthResponse' },
);
export type HealthResponse = Static<typeof HealthResponse>;
