/** Schemas that once were dear to read or to enforce. */
export const properties = (count: number): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, { type: 'string' }])),
});

export const ways = (count: number): object => ({
  anyOf: Array.from({ length: count }, (_, at) => ({
    type: 'object',
    properties: { k: { const: at } },
    required: ['k'],
  })),
});

/** Each level doubles what a parser has to keep in mind. */
export const namesItself: object = {
  $ref: '#/$defs/a',
  $defs: {
    a: {
      anyOf: [
        ...[1, 2, 3].map((z) => ({
          type: 'object',
          properties: { k: { $ref: '#/$defs/a' }, z: { const: z } },
        })),
        { type: 'null' },
      ],
    },
  },
};
