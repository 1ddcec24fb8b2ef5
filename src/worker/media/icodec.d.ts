/** The two bundled files of the package; its own types cover all of its codecs, and are for browsers. */
declare module 'icodec/webp-dec.js' {
  interface Decoder {
    /** An image of `_icodec_ImageData`; null if the file is damaged. */
    readonly decode: (file: Uint8Array) => unknown;
  }
  const open: (options: {
    readonly wasmBinary: Uint8Array;
    readonly locateFile: (name: string) => string;
    readonly printErr: (line: string) => void;
  }) => Promise<Decoder>;
  export default open;
}

declare module 'icodec/webp-dec.wasm' {
  const bytes: Uint8Array;
  export default bytes;
}
