/** Requests that end the service without a signal, and that stop a job of any client. */
import { type Static, Type } from 'typebox';

export const QuitRequest = Type.Object(
  {
    now: Type.Optional(Type.Boolean({ description: 'True: do not wait for running answers.' })),
  },
  { $id: 'QuitRequest' },
);
export type QuitRequest = Static<typeof QuitRequest>;

export const QuitResponse = Type.Object({ ending: Type.Literal(true) }, { $id: 'QuitResponse' });

export const StopRequest = Type.Object(
  {
    job: Type.String({ minLength: 1, maxLength: 512, description: 'Its id in the state of the engine.' }),
  },
  { $id: 'StopRequest' },
);
export type StopRequest = Static<typeof StopRequest>;

export const StopResponse = Type.Object({
  job: Type.String(),
  stopped: Type.Boolean({ description: 'False: no such job is open.' }),
});
