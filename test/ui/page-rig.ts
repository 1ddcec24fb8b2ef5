/** A service with its page and a browser, one for all tests of a file: started before them, ended after them. */
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { openPage, startBrowser } from './browser.ts';
import { choose } from './talking.ts';

type Settings = Readonly<Record<string, string>>;

/** There when the tests run, and not before. */
export interface PageRig {
  installation: Installation;
  served: Served;
  browser: Browser;
}

export function pageRig(settings: Settings = {}): PageRig {
  const rig = {} as PageRig;
  beforeAll(async () => {
    [rig.installation, rig.browser] = await Promise.all([Installation.make(), startBrowser()]);
    rig.served = await rig.installation.serve({ SVC_NUM_THREADS: '1', ...settings });
  });
  endAfterAll(rig);
  return rig;
}

export interface FarRig extends PageRig {
  upstream: ScriptedUpstream;
}

interface Far {
  /** Absent: those that the scripted upstream has. */
  readonly models?: ScriptedUpstream['models'];
  /** Of `hearth upstream add`. */
  readonly options?: readonly string[];
  readonly settings?: Settings;
}

/** The same with models of an upstream named far; the built-in chat model is a tiny one. */
export function farRig({ models, options = [], settings = {} }: Far = {}): FarRig {
  const rig = {} as FarRig;
  beforeAll(async () => {
    [rig.installation, rig.browser] = await Promise.all([tinyInstallation(), startBrowser()]);
    rig.upstream = await startUpstream();
    if (models !== undefined) rig.upstream.models = models;
    const added = await rig.installation.run([
      'upstream',
      'add',
      'far',
      `${rig.upstream.url}/v1`,
      ...options,
    ]);
    if (added.code !== 0) throw new Error(added.stderr);
    rig.served = await rig.installation.serve({ SVC_NUM_THREADS: '1', ...settings });
  });
  endAfterAll(rig);
  return rig;
}

/** The answers of its chat model take long enough to be looked at and stopped on any machine. */
export async function tinyInstallation(): Promise<Installation> {
  const installation = await Installation.make({ trained: false });
  const file = path.join(installation.folder, 'models', 'hearth-mini', 'model.gguf');
  await writeTinyChat(file, { contextLength: 65_536 });
  return installation;
}

/** Opens the page with a model of the upstream chosen. */
export async function visitFar(rig: FarRig) {
  const visited = await openPage(rig.browser, `${rig.served.url}/ui/`);
  await choose(visited.page, 'far/good');
  return visited;
}

/** The content of the last message that the upstream was sent. */
export const lastContent = (rig: FarRig) =>
  rig.upstream.requests.findLast(({ path }) => path === '/v1/chat/completions')?.body.messages.at(-1).content;

/** The files beside the message that is being written. */
export const chips = (page: Page) => page.locator('.composer .attachments li');

function endAfterAll(rig: PageRig & Partial<FarRig>): void {
  afterAll(async () => {
    await rig.browser.close();
    await rig.upstream?.close();
    await rig.installation.remove();
  });
}
