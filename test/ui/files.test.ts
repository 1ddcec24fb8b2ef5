/** Text files beside a message: attached, shown, and sent as what they say. */
import { beforeEach, describe, expect, it } from 'vitest';
import { chips, farRig, lastContent, visitFar } from './page-rig.ts';
import { answers, message, reload, say } from './talking.ts';

const rig = farRig();
beforeEach(() => {
  rig.upstream.requests.length = 0;
});

const file = (name: string, text: string) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(text),
});
const sent = (): string => lastContent(rig);

const visit = () => visitFar(rig);

describe('text files', () => {
  it('are attached by the button, shown as what the model reads, and sent before the message', async () => {
    const { page, close } = await visit();
    await page
      .getByLabel('Attach files')
      .setInputFiles([file('nightly.log', 'line one\nline two\n'), file('a.md', '```js\nx\n```')]);
    await expect.poll(() => chips(page).count()).toBe(2);
    await chips(page).first().locator('summary').click();
    await expect.poll(() => chips(page).first().locator('pre').textContent()).toBe('line one\nline two\n');
    await say(page, 'Why?');
    expect(sent()).toBe(
      'File: nightly.log\n```\nline one\nline two\n```\n\nFile: a.md\n````\n```js\nx\n```\n````\n\nWhy?',
    );
    await expect.poll(() => chips(page).count()).toBe(0);
    await reload(page);
    await expect.poll(() => page.locator('.entry.user .attachments li').count()).toBe(2);
    // They stay with the message when it is written anew.
    await page.locator('.entry.user').getByRole('button', { name: 'Edit' }).click();
    // Some can be left out.
    expect(await page.locator('.entry.user .attachments li').count()).toBe(2);
    await page.locator('.entry.user').getByRole('button', { name: 'Remove a.md' }).click();
    await page.getByLabel('Edited message').fill('And then?');
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page).count()).toBe(1);
    await expect.poll(sent).toContain('line two\n```');
    expect(sent()).toMatch(/And then\?$/);
    expect(sent()).not.toContain('a.md');
    await close();
  });

  it('are dropped on the conversation, and taken away again', async () => {
    const { page, close } = await visit();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['dropped'], 'dropped.txt'));
      document
        .querySelector('.talk')
        ?.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    });
    await expect.poll(() => chips(page).textContent()).toContain('dropped.txt');
    await page.getByRole('button', { name: 'Remove dropped.txt' }).click();
    await expect.poll(() => chips(page).count()).toBe(0);
    await close();
  });

  it('stand for a long paste, and a short one stays in the message', async () => {
    const { page, close } = await visit();
    const paste = (text: string) =>
      message(page).evaluate((field, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', pasted);
        return field.dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
        );
      }, text);
    expect(await paste('short')).toBe(true);
    expect(await paste('word '.repeat(1000))).toBe(false);
    await expect.poll(() => chips(page).textContent()).toContain('5,000 characters');
    await close();
  });
});

describe('a file that is still being read', () => {
  it('keeps its message until it is there', async () => {
    const { page, close } = await visit();
    await page.evaluate(() => {
      const read = File.prototype.arrayBuffer;
      File.prototype.arrayBuffer = async function held() {
        await new Promise<void>((resolve) => void Reflect.set(window, 'release', resolve));
        return read.call(this);
      };
    });
    await page.getByLabel('Attach files').setInputFiles([file('slow.txt', 'at last')]);
    await page.getByText('Reading the files…').waitFor();
    await message(page).fill('Why?');
    await message(page).press('Enter');
    expect(await page.locator('.entry').count()).toBe(0);
    await page.evaluate(() => (Reflect.get(window, 'release') as () => void)());
    await expect.poll(() => chips(page).count()).toBe(1);
    await message(page).press('Enter');
    await expect.poll(() => answers(page).count()).toBe(1);
    expect(sent()).toContain('at last');
    await close();
  });
});

describe('other files', () => {
  it('are refused with the reason', async () => {
    const { page, close } = await visit();
    const attach = page.getByLabel('Attach files');
    await attach.setInputFiles([file('photo.png', 'PNG\0')]);
    await page.getByText('photo.png is no text, PDF or image').waitFor();
    await attach.setInputFiles([file('huge.txt', 'a'.repeat(1_200_000))]);
    await page.getByText('huge.txt has 1.2 MB, and at most 1.0 MB can be attached').waitFor();
    await expect.poll(() => chips(page).count()).toBe(0);
    await close();
  });
});
