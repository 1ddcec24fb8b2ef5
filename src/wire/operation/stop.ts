/** The request to stop a job of any client. */
import { type Static, Type } from 'typebox';

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
