/** Where a Chromium is, if there is one: what CHROMIUM names, else the places of the distributions. */
import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
];

export function findChromium() {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return existsSync(named) ? named : null;
  return PLACES.find((place) => existsSync(place)) ?? null;
}
