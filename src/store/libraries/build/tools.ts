/**
 * Compilers and build programs that `hearth library build --compiler zig` fetches: PyPI wheels by platform, pinned by
 * hash. A file with another hash is never unpacked.
 */
import { type PinnedFile, PYPI_FILES } from '../pinned-file.ts';

export type ToolName = keyof typeof PROGRAMS;

export interface Tool extends PinnedFile {
  readonly name: ToolName;
  readonly version: string;
  readonly program: string;
}

const VERSIONS = { zig: '0.17.1', cmake: '4.4.5', ninja: '1.13.2' } as const;
const PROGRAMS = {
  zig: 'ziglang/zig',
  cmake: 'cmake/data/bin/cmake',
  ninja: `ninja-${VERSIONS.ninja}.data/scripts/ninja`,
} as const;

/** Path on the host, SHA-256 in base64, bytes. */
type Wheel = readonly [path: string, sha256: string, bytes: number];

const UNIVERSAL = {
  cmake: [
    '8a/d0/56294d798c0d738f9f64381ecf5a9e2273b62e3fb30f312a28e9ed194417/cmake-4.4.5-py3-none-macosx_10_10_universal2.whl',
    '4HpXFrQjPcnGnWymmT9EBe78dofnGNn27ru2zBvjBO8=',
    54_406_040,
  ],
  ninja: [
    'b5/b8/90a9518f2264637084d6199bc20c2f3fb97fefc4c474d277720150c3bd6d/ninja-1.13.2-py3-none-macosx_10_9_universal2.whl',
    '/YLibAcGrUq4jl/dJvP6sKmHqQ+BAWD2wyLnUsavKYs=',
    306_611,
  ],
} as const satisfies Partial<Record<ToolName, Wheel>>;

const WHEELS: Readonly<Record<string, Readonly<Record<ToolName, Wheel>>>> = {
  'linux-x64': {
    zig: [
      '59/e3/2a34676370a11c36b7cd04ffb2439c1089c0530cf4b01408c77cf7f8d9c3/ziglang-0.17.1-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl',
      '6mzF2HsDPPCu37yPlUmpCMrmxQrDHxaYGI+kinRSS1Q=',
      101_083_562,
    ],
    cmake: [
      '61/e3/0d24bb452ebc819ab03bbc01b1f4d92863e5c106a93755a4eb38761495da/cmake-4.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
      'hWJam21eiP+Zx+t5Ej2FVwhE53rAdjZs91xgnMCxtXk=',
      30_246_479,
    ],
    ninja: [
      '6e/53/ebfed7b689c338dd8ebeec9c0730c8d56821292f14e2536e5f3ef1a05744/ninja-1.13.2-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
      'ZaJDQbWsCfytzDcIJmC+QKlBdOUak3+r9uLK4mIl+iw=',
      183_365,
    ],
  },
  'linux-arm64': {
    zig: [
      '91/72/bb7c4f098ba3e535fa2ebefd9f26327ba63fb0672562959255cb5dd37aff/ziglang-0.17.1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl',
      't8XwL8zUD4m5me4WofXdztVuYYI3D4r/5JS8+KKM8H4=',
      98_063_064,
    ],
    cmake: [
      '11/bd/282dc144e38709a8110754198bfa8b91d589aad66513c313837f484c988e/cmake-4.4.5-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl',
      'JfyEaeZ4VxJO8QwAIzHAq0Fut7jZ4dbkxY6E5zABPs4=',
      30_302_127,
    ],
    ninja: [
      '35/54/7368ce188625e39acc03ee362bb86cc9bfa6ad15e25c50889ae36e2889b3/ninja-1.13.2-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl',
      '13Wl5D6QiPUHpiUNV/z1Z46zEmjFRf61Bk/+7jNzViI=',
      177_180,
    ],
  },
  'darwin-arm64': {
    zig: [
      'ea/e1/4a9a97324fcf2d292c14a2e0121ea0df86c01d0c307ea24fa35aebaccd15/ziglang-0.17.1-py3-none-macosx_13_0_arm64.whl',
      'CZU7avf2QWi5FRgKQndPUg+S2G72Mxso4zkVx+HwuyM=',
      100_390_379,
    ],
    ...UNIVERSAL,
  },
  'darwin-x64': {
    zig: [
      '17/f6/f4dfc8cf0e510980fda251a8edf99823b9446f5d7a2a6a24801e55e09c28/ziglang-0.17.1-py3-none-macosx_13_0_x86_64.whl',
      'TgtLnAK40NIg6ZSAEPhgti/xHZars5di7KX6LvP3vJc=',
      104_485_232,
    ],
    ...UNIVERSAL,
  },
  'win32-x64': {
    zig: [
      'c8/6c/2013114fa780f0cf490cdc98bdd5bf7dce706a5dbd86e50ec4132cf7d4b1/ziglang-0.17.1-py3-none-win_amd64.whl',
      'acPfw6/2opfsQBeqkEeCwORQ65iJgtf2ddg+3OJ1Jvs=',
      101_924_940,
    ],
    cmake: [
      'bc/75/6f8c13be92f0d2a272d800114227c7584f2a39171292eabc9073841a40a9/cmake-4.4.5-py3-none-win_amd64.whl',
      '1VIbSp6GRQXFUKuumf9ZPVAb0IIlWD5ps6mkyn82oD8=',
      42_321_091,
    ],
    ninja: [
      '3f/dd/3766b5f4d32e8a9b97d195496b0b01fbbe2e1a41669dab0cd6492a6ce199/ninja-1.13.2-py3-none-win_amd64.whl',
      'EpP0B4J4tw0O5LbMjzqeAwZWybL1mQmXA0PE/nYHARg=',
      311_798,
    ],
  },
  'win32-arm64': {
    zig: [
      '70/34/a1d775ceaf325b08c3aca909865e057919d0fe1355e2b59081500ef230a1/ziglang-0.17.1-py3-none-win_arm64.whl',
      'J6jaX46qDnbrvHwllBMO1GRsEQGtos4KqG/lgMdBVLk=',
      97_412_346,
    ],
    cmake: [
      '07/7b/456e0eb43a566846b593765388262b1026e7740022e31684a98ecfe57c50/cmake-4.4.5-py3-none-win_arm64.whl',
      'z53JN1wjmlaVK24ltOgbn289H1OCDJIkFxnZPrmKn1s=',
      40_491_136,
    ],
    ninja: [
      'b7/8d/59a31fa508070d042571d9d226b541a21000756817313f397da22287ad34/ninja-1.13.2-py3-none-win_arm64.whl',
      'HbmFLlKO+ncC9RI5afhmeGY+RtV/8oqxP1/YTWSoX7E=',
      290_620,
    ],
  },
};

export function toolFor(name: ToolName, platform: string): Tool | null {
  const wheel = WHEELS[platform]?.[name];
  if (wheel === undefined) return null;
  const [path, sha256, downloadBytes] = wheel;
  const version = VERSIONS[name];
  return {
    name,
    version,
    program: platform.startsWith('win32') ? `${PROGRAMS[name]}.exe` : PROGRAMS[name],
    label: `${name} ${version}`,
    url: `${PYPI_FILES}/packages/${path}`,
    integrity: `sha256-${sha256}`,
    downloadBytes,
  };
}
