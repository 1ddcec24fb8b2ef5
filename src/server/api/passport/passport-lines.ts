import type { CheckShown, Passport, ReferenceShown } from '../../../wire/operation/passport.ts';
import { readable } from '../../../lib/base/byte-size.ts';

type Line = readonly [name: string, value: string];

export function passportLines(passport: Passport): Line[] {
  const { origin, template, tool_format: tools, sampling } = passport;
  return [
    ['model', passport.model],
    ['kind', [passport.kind, passport.architecture, passport.quant ?? 'unknown quant'].join(', ')],
    ['licence', passport.license ?? 'not stated'],
    ['origin', originWords(origin)],
    ...(origin.endpoint === null ? [] : [['hub', origin.endpoint] as const]),
    ['installed', origin.installed_at],
    ...passport.files.flatMap(fileLines),
    ...signatureLines(passport),
    ...(passport.kind === 'chat' ? [['template', templateWords(template)] as const] : []),
    ...(tools === null ? [] : [['tool format', `${tools.name}, sha256 ${tools.sha256}`] as const]),
    ...(passport.kind === 'chat' ? [['recommended', pairs(sampling.recommended) || 'nothing'] as const] : []),
    ...(Object.keys(sampling.set).length === 0 ? [] : [['set', pairs(sampling.set)] as const]),
    ...measuredLines(passport),
  ];
}

const originWords = ({ type, ref, commit }: Passport['origin']): string =>
  [type, ...(ref === null ? [] : [ref]), ...(commit === null ? [] : [`at ${commit}`])].join(' ');

const fileLines = ({
  role,
  path,
  size_bytes: bytes,
  sha256,
  is_computed,
}: Passport['files'][number]): Line[] => [
  [role, path === null ? readable(bytes) : `${path} (${readable(bytes)})`],
  ['sha256', sha256 === null ? 'not known' : `${sha256}${is_computed ? '' : ' (stated by its store)'}`],
];

function signatureLines({ signatures }: Passport): Line[] {
  if (signatures === null)
    return [['signature', 'nobody looked for one; install the model again to have it checked']];
  const { says, checked_at, state, files } = signatures;
  const lines: Line[] = [['signature', `${says}; checked ${checked_at}`]];
  if (state === 'trusted' || files.length === 1) return lines;
  return [...lines, ...files.map((file) => ['', `${file.name}: ${fileWords(file)}`] as const)];
}

function fileWords({ state, signer, reason }: NonNullable<Passport['signatures']>['files'][number]): string {
  if (state === 'failed') return reason ?? 'failed';
  return signer === null ? 'no signature' : `signed by ${signer}${state === 'trusted' ? '' : ', not listed'}`;
}

function templateWords({ source, name, sha256 }: Passport['template']): string {
  if (source === 'none') return 'none';
  const digest = sha256 === null ? '' : `, sha256 ${sha256}`;
  return source === 'file' ? `in the file${digest}` : `${name}, as set${digest}`;
}

const pairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

function measuredLines({ model, kind, check, eval: measured, eval_reference: reference }: Passport): Line[] {
  if (kind !== 'chat') return [];
  return [
    ...(check === null
      ? [['check', `not yet: hearth check ${model}`] as const]
      : [
          [
            'check',
            `${checkWords(check)}; ${withWords(check.library, check.hearth)}, ${check.checked_at}`,
          ] as const,
          ...check.defects.map((defect) => ['defect', defect] as const),
        ]),
    ...(measured === null
      ? [['eval', `not yet: hearth eval ${model}`] as const]
      : [
          [
            'eval',
            `${measured.verdict}${measured.is_current ? '' : ' (with other settings than now)'}`,
          ] as const,
          ...measured.findings.map((finding) => ['wrong', finding] as const),
          [
            '',
            [
              withWords(measured.library, measured.hearth),
              measured.issued_at,
              ...(measured.card === null ? [] : [`card ${measured.card}`]),
            ].join(', '),
          ] as const,
        ]),
    ...(reference === null ? [] : [['reference', referenceWords(reference)] as const]),
  ];
}

function referenceWords({ of, bits_per_byte: bits, ...with_ }: ReferenceShown): string {
  const figure = bits === null ? '' : `, ${bits.toFixed(3)} bits per byte`;
  return `of ${of === null ? 'another model' : `hearth eval ${of}`}${figure}; ${withWords(with_.library, with_.hearth)}, ${with_.issued_at}`;
}

function checkWords({ cases, is_current }: CheckShown): string {
  const which = cases.failed.length === 0 ? '' : ` (failed: ${cases.failed.join(', ')})`;
  return `${caseWords(cases)}${which}${is_current ? '' : ', with other settings than now'}`;
}

/** A share of all cases would make a check that tried little look like a bad model. */
export function caseWords({ all, passed, left }: Omit<CheckShown['cases'], 'failed'>): string {
  if (left === 0) return `${passed} of ${all} cases passed`;
  return `incomplete, only ${all - left} of ${all} cases were tried; ${passed} of these passed`;
}

const withWords = (
  library: { readonly release: string; readonly sha256: string | null },
  hearth: string,
): string =>
  `llama.cpp ${library.release}${library.sha256 === null ? '' : ` (${library.sha256.slice(0, 12)})`}, Hearth ${hearth}`;
