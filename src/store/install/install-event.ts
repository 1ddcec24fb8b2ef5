/** Events of an installation, as plain data: the CLI draws them, `--json` prints them line by line. */
export type InstallEvent =
  | { readonly status: 'resolving'; readonly ref: string }
  | {
      readonly status: 'resolved';
      readonly repo: string;
      readonly commit: string;
      readonly files: readonly string[];
    }
  /** Bytes of one file that were downloaded, copied or read back so far. */
  | {
      readonly status: 'downloading' | 'copying' | 'verifying';
      readonly file: string;
      readonly digest?: string;
      readonly total: number;
      readonly completed: number;
    }
  | { readonly status: 'waiting'; readonly holder: string }
  | {
      readonly status: 'retrying';
      readonly reason: string;
      readonly attempt: number;
      readonly delayMs: number;
    }
  | { readonly status: 'inspecting' | 'probing' | 'unpacking'; readonly file: string }
  /** It cannot be used, and the model can without it. */
  | { readonly status: 'left out'; readonly file: string; readonly reason: string }
  /** Signers of the files, in a sentence. */
  | {
      readonly status: 'signature';
      readonly state: 'trusted' | 'unlisted' | 'failed' | 'unsigned';
      readonly says: string;
    }
  | { readonly status: 'writing manifest'; readonly id: string }
  | { readonly status: 'success'; readonly id: string };

export type OnInstallEvent = (event: InstallEvent) => void;
