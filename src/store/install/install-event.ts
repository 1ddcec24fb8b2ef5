/** Plain data: the CLI draws these events, and `--json` prints them line by line. */
export type InstallEvent =
  | { readonly status: 'resolving'; readonly ref: string }
  | {
      readonly status: 'resolved';
      readonly repo: string;
      readonly commit: string;
      readonly files: readonly string[];
    }
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
  | { readonly status: 'left out'; readonly file: string; readonly reason: string }
  | {
      readonly status: 'signature';
      readonly state: 'trusted' | 'unlisted' | 'failed' | 'unsigned';
      readonly says: string;
    }
  | { readonly status: 'writing manifest'; readonly id: string }
  | { readonly status: 'success'; readonly id: string };

export type OnInstallEvent = (event: InstallEvent) => void;
