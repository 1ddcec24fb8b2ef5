/** The request to end the service: Windows has no signal that a program can act on. */
import { type Static, Type } from 'typebox';

export const QuitRequest = Type.Object(
  {
    now: Type.Optional(Type.Boolean({ description: 'True: do not wait for running answers.' })),
  },
  { $id: 'QuitRequest' },
);
export type QuitRequest = Static<typeof QuitRequest>;

export const QuitResponse = Type.Object({ ending: Type.Literal(true) }, { $id: 'QuitResponse' });
