/** What tests use of the package, whose own types are for browsers. */
declare module 'icodec/node' {
  export const webp: {
    readonly loadEncoder: () => Promise<unknown>;
    readonly encode: (
      image: {
        readonly data: Uint8ClampedArray;
        readonly width: number;
        readonly height: number;
        readonly depth: number;
      },
      options: { readonly lossless: boolean },
    ) => Uint8Array;
  };
}
