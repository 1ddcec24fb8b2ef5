/**
 * npm run campaign [-- --minutes N --seed S --only NAME,NAME --round R]: the scenarios of test/campaign, each for its share of
 * the time, and one report of all, as JSON and as a page. A finding says how to play its round again.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../../scripts/prepare.mjs';

const files = readdirSync(path.join(root, 'test', 'campaign'), { recursive: true }).filter((name) =>
  name.endsWith('.campaign.ts'),
);
const nameOf = (file) => path.basename(file, '.campaign.ts');
const { minutes, seed, only, round } = readArguments();
requireNode();
await ensureInstalled();
await ensureBuilt();

const chosen = files.filter((file) => only.length === 0 || only.includes(nameOf(file)));
const spanMs = Math.round((minutes * 60_000) / chosen.length);
process.stderr.write(`${chosen.length} scenarios, ${Math.round(spanMs / 1000)} s for each …\n`);
const began = new Date().toISOString();
const output = path.join(root, 'generated', 'campaign');
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const { status } = spawnSync(
  process.execPath,
  [
    path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--config',
    'vitest.campaign.config.ts',
    ...chosen.map((name) => path.join('test', 'campaign', name)),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CAMPAIGN_OUTPUT: output,
      CAMPAIGN_MS: String(spanMs),
      CAMPAIGN_SEED: String(seed),
      ...(round === undefined ? {} : { CAMPAIGN_ROUND: round }),
    },
  },
);
const scenarios = readdirSync(output).map((file) =>
  JSON.parse(readFileSync(path.join(output, file), 'utf8')),
);
const report = { began, commit: commit(), minutes, seed, node: process.version, scenarios };
writeFileSync(path.join(output, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
writeFileSync(path.join(output, 'report.md'), page(report));
process.stdout.write(`The report is ${path.join(output, 'report.md')}\n`);
process.exit(status ?? 1);

function readArguments() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '3' },
        seed: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
        round: { type: 'string' },
        help: { type: 'boolean' },
      },
    }));
  } catch (error) {
    usage(error.message);
  }
  if (values.help) usage();
  const numbers = { minutes: Number(values.minutes), seed: Number(values.seed) };
  if (!(numbers.minutes > 0)) usage('--minutes is a number above 0.');
  if (!Number.isInteger(numbers.seed) || numbers.seed < 0) usage('--seed is a whole number.');
  const names = values.only.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !files.map(nameOf).includes(name));
  if (unknown !== undefined) usage(`There is no scenario "${unknown}".`);
  if (values.round !== undefined && (names.length !== 1 || !/^\d+$/.test(values.round)))
    usage('--round is a number from a report, and needs --only with the name of its scenario.');
  return { ...numbers, only: names, round: values.round };
}

function usage(problem) {
  const text = `Usage: npm run campaign [-- --minutes N --seed S --only NAME,NAME --round R]
  --minutes  for all scenarios together, in equal shares (3)
  --seed     where the rounds begin; the same seed plays the same rounds (1)
  --only     some of ${files.map(nameOf).toSorted().join(', ')}
  --round    one round of one scenario again, as a report names it
`;
  process[problem === undefined ? 'stdout' : 'stderr'].write(
    `${problem === undefined ? '' : `${problem}\n`}${text}`,
  );
  process.exit(problem === undefined ? 0 : 2);
}

/** Null outside a repository. */
function commit() {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes');
  } catch {
    return null;
  }
}

function page({ scenarios: all }) {
  const list = (values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ');
  const rows = all.map(
    ({ name, counts, most, findings }) =>
      `| ${name} | ${list(counts)} | ${list(most)} | ${findings.length} |`,
  );
  const found = all.flatMap(({ name, findings }) =>
    findings.flatMap(({ seed: which, what, keep }) => [
      `- ${what}`,
      `  Again: \`npm run campaign -- --only ${name} --round ${which}\``,
      ...(keep
        ? [`  Keep it in test/campaign/cases/${keep.file}.json: \`${JSON.stringify(keep.case)}\``]
        : []),
    ]),
  );
  return [
    `# Campaign of ${minutes} minutes, seed ${seed}`,
    '',
    `Began ${began}, commit ${report.commit ?? 'unknown'}, Node ${process.version}.`,
    '',
    '| scenario | did | at most | findings |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...found,
    '',
  ].join('\n');
}
