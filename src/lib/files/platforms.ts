interface PlatformLibrary {
  /** Without its scope; package.json and package-lock.json pin its version and hash. */
  readonly package: string;
  readonly version: string;
  readonly release: string;
  readonly shortfall?: string;
}

const LATEST = { version: '3.22.1', release: 'v0.5.0' } as const;
/** Last release with packages for macOS and Windows; no function or struct that Hearth uses differs. */
const BEFORE = { version: '3.21.1', release: 'v0.4.0' } as const;
const SLOW = 'was compiled without optimisation and is about 20 times slower than it could be';

/** Keyed by platform and architecture; on other platforms `hearth library build` makes the libraries. */
export const PLATFORMS: Readonly<Record<string, PlatformLibrary>> = {
  'linux-x64': { package: 'linux-x64', ...LATEST },
  'linux-arm64': { package: 'linux-arm64', ...LATEST },
  'linux-arm': { package: 'linux-armv7l', ...LATEST },
  'darwin-arm64': { package: 'mac-arm64-metal', ...BEFORE },
  'darwin-x64': { package: 'mac-x64', ...BEFORE },
  'win32-x64': { package: 'win-x64', ...BEFORE, shortfall: SLOW },
  'win32-arm64': { package: 'win-arm64', ...BEFORE, shortfall: SLOW },
};

export const platformKey = (
  platform: string = process.platform,
  arch: string = process.arch,
  isMusl: boolean = hasMusl(),
): string => `${platform}-${arch}${isMusl ? '-musl' : ''}`;

export const platformLibrary = (key: string = platformKey()): PlatformLibrary | null =>
  PLATFORMS[key] ?? null;

/** Minor releases that Hearth is tested or checked against; a patch release changes no layout. */
export const TESTED_RELEASES: ReadonlySet<string> = new Set(
  Object.values(PLATFORMS).map(({ release }) => minorVersion(release) ?? ''),
);

/** First two numbers of `v0.5.0` or `0.5.0-dev`. */
export function minorVersion(version: string): string | null {
  return /^v?(\d+\.\d+)(?:\.|$)/.exec(version)?.[1] ?? null;
}

let musl: boolean | undefined;

/** Node's report contains glibc's version where it runs on glibc. */
function hasMusl(): boolean {
  if (process.platform !== 'linux') return false;
  musl ??= isWithoutGlibc();
  return musl;
}

function isWithoutGlibc(): boolean {
  const { header } = Object(process.report.getReport()) as { readonly header?: object };
  return header !== undefined && Reflect.get(header, 'glibcVersionRuntime') === undefined;
}
