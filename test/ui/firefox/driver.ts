/**
 * Firefox, driven by puppeteer-core over WebDriver BiDi. It is installed below generated/ with the first run, because 80
 * packages for one suite are too many for the lockfile; Playwright speaks BiDi with newer Firefoxes only.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const VERSION = '24.43.1';
const FOLDER = path.resolve('generated', 'firefox');
const MODULE = path.join(
  FOLDER,
  'node_modules',
  'puppeteer-core',
  'lib',
  'esm',
  'puppeteer',
  'puppeteer-core.js',
);
const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox', '/snap/bin/firefox'];

export interface FirefoxPage {
  goto(address: string): Promise<unknown>;
  type(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  waitForSelector(selector: string): Promise<unknown>;
  reload(): Promise<unknown>;
  readonly keyboard: { press(key: string): Promise<void> };
  evaluate<Result, Given extends readonly unknown[]>(
    act: (...given: Given) => Result,
    ...given: Given
  ): Promise<Awaited<Result>>;
  on(event: 'console', listen: (message: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', listen: (error: Error) => void): void;
}

export interface Firefox {
  newPage(): Promise<FirefoxPage>;
  close(): Promise<void>;
}

export async function startFirefox(): Promise<Firefox> {
  const executablePath = process.env['FIREFOX'] ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error(
      'No Firefox was found. Install one (apt-get install firefox-esr), or name it in FIREFOX.',
    );
  }
  if (!existsSync(MODULE)) install();
  const puppeteer = (await import(pathToFileURL(MODULE).href)) as {
    launch(options: object): Promise<Firefox>;
  };
  return puppeteer.launch({ browser: 'firefox', executablePath, headless: true, timeout: 120_000 });
}

function install(): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, 'package.json'), '{ "private": true }\n');
  const wanted = ['install', '--silent', '--ignore-scripts', '--no-save', `puppeteer-core@${VERSION}`];
  execFileSync('npm', wanted, { cwd: FOLDER, stdio: 'inherit' });
}
