import { existsSync } from 'node:fs';
import path from 'node:path';
import { confirm } from '@clack/prompts';
import type { Command } from 'commander';
import { packageFolder } from '../../../lib/base/package-folder.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { restartService } from './restart.ts';
import { runProgram, showProgram } from '../../service/programs.ts';
import {
  changedFilesProgram,
  checkoutPrograms,
  fetchProgram,
  type Form,
  installForm,
  newCommitsProgram,
  packageFactsProgram,
  packageProgram,
  type Program,
  readPackageFacts,
} from '../../update-plan.ts';
import { readVersion } from '../../version.ts';

interface UpdateFlags {
  readonly check?: boolean;
  readonly yes?: boolean;
}

interface Update {
  readonly lines: readonly string[];
  readonly programs: readonly Program[];
}

const PACKAGE = 'hearth-llm';
const MOST_COMMITS = 15;
const isWindows = process.platform === 'win32';

export function registerUpdate(program: Command, context: CliContext): void {
  program
    .command('update [file]')
    .description('update this installation: a checkout from its git remote, a package from a FILE.tgz')
    .option('--check', 'only say what would change')
    .option('-y, --yes', 'do not ask')
    .action(async (file: string | undefined, flags: UpdateFlags) => {
      const form = installForm({
        folder: packageFolder,
        hasGit: existsSync(path.join(packageFolder, '.git')),
        isWindows,
      });
      const update = await findUpdate(form, file);
      if (update === null) return context.note(`Hearth ${readVersion()} is up to date.`);
      for (const line of update.lines) context.print(printable(line));
      if (flags.check === true || !(await isWanted(flags))) return;
      for (const command of update.programs) await done(command);
      context.note('The new version is installed.');
      await restartService(context, { done: 'the new version is installed', old: 'the old version' });
    });
}

function findUpdate(form: Form, file: string | undefined): Promise<Update | null> {
  if (form.kind === 'checkout' && file === undefined) return checkoutUpdate(form.folder);
  if (form.kind === 'package' && file !== undefined) return packageUpdate(form, file);
  throw new CliFailure(HOW[form.kind](form.folder), EXIT_CODES.usage);
}

const HOW: Readonly<Record<Form['kind'], (folder: string) => string>> = {
  checkout: (folder) => `${folder} is a git checkout, which hearth update updates without a file`,
  package: () =>
    `name the package: hearth update FILE.tgz; ${PACKAGE} is not published, so make the file with npm run pack in a copy of the source`,
  copy: (folder) =>
    `${folder} is neither a git checkout nor a package of npm; replace its files with those of the new version and run: npm start`,
};

async function checkoutUpdate(folder: string): Promise<Update | null> {
  await asked(fetchProgram(folder), 'fetch the new version');
  const commits = (await asked(newCommitsProgram(folder), 'compare the versions'))
    .split('\n')
    .filter(Boolean);
  if (commits.length === 0) return null;
  const changed = await asked(changedFilesProgram(folder), 'look for changes of yours');
  if (changed !== '') {
    throw new CliFailure(
      `files of ${folder} have changes of yours; commit or undo them first:\n${printable(changed.split('\n').slice(0, 10).join(', '))}`,
    );
  }
  const more = commits.length > MOST_COMMITS ? [`… and ${commits.length - MOST_COMMITS} more`] : [];
  return {
    lines: [
      `New commits for ${folder}:`,
      ...commits.slice(0, MOST_COMMITS).map((line) => `  ${line}`),
      ...more,
    ],
    programs: checkoutPrograms(folder, process.execPath),
  };
}

async function packageUpdate(
  { prefix, folder }: Extract<Form, { kind: 'package' }>,
  file: string,
): Promise<Update | null> {
  if (!existsSync(file)) throw new CliFailure(`there is no file ${file}`, EXIT_CODES.notFound);
  if (prefix === null) {
    throw new CliFailure(
      `${folder} belongs to a project and was not installed with npm install --global; update it in that project: npm install ${file}`,
    );
  }
  const full = path.resolve(file);
  const facts = readPackageFacts(await asked(packageFactsProgram(full, isWindows), `read ${file}`));
  if (facts?.name !== PACKAGE) throw new CliFailure(`${file} is not a package of Hearth (${PACKAGE})`);
  return {
    lines: [`Hearth ${readVersion()} in ${prefix} becomes ${facts.version}, from ${full}`],
    programs: [packageProgram(full, prefix, isWindows)],
  };
}

async function isWanted({ yes }: UpdateFlags): Promise<boolean> {
  if (yes === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliFailure(
      'nothing was changed; to update without a question: hearth update --yes',
      EXIT_CODES.usage,
    );
  }
  return (await confirm({ message: 'Update now?', output: process.stderr })) === true;
}

async function asked(command: Program, what: string): Promise<string> {
  const { code, stdout, output } = await runProgram(command);
  if (code === 0) return stdout;
  throw failed(command, what, code === null ? null : output);
}

async function done(command: Program): Promise<void> {
  const code = await showProgram(command);
  if (code !== 0)
    throw failed(command, 'install the new version', code === null ? null : `exit code ${code}`);
}

function failed([name]: Program, what: string, output: string | null): CliFailure {
  const why = output === null ? `there is no ${path.basename(name)} on PATH` : printable(output);
  return new CliFailure(`Hearth cannot ${what}: ${why}`);
}
