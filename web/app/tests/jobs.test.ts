import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told, visit } from './browser';
import { asRoot, signUp } from './people';

it('root pauses a queue and says why, everybody sees it, and a job is cancelled and tried again', async () => {
  const page = await signedIn('root', {}, '/console/settings/jobs');
  const queues = page.getByRole('region', { name: 'Queues' });
  await queues.getByRole('row', { name: /^mail/ }).getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Reason').fill('The mail server is being moved.');
  await dialog.getByRole('button', { name: 'Pause' }).click();
  const banner = page.getByRole('status').filter({ hasText: 'The queue mail is paused.' });
  await banner.getByText('The mail server is being moved.').waitFor();

  try {
    await signUp('Nina Prado'); // whose mail waits
    const colleague = await signedIn('admin', {}, '/console/');
    await colleague.getByRole('region', { name: 'Paused queues' }).getByText('The mail server is being moved.').waitFor();
    await colleague.getByRole('link', { name: 'Paused queues' }).click();
    await colleague.getByText('The queue mail is paused.').waitFor();
    expect(await colleague.getByRole('button', { name: /Pause|Resume|Cancel job/ }).count()).toBe(0);
    await colleague.goto(`/console/settings/jobs?query=${encodeURIComponent('{"queue":"mail","state":"available"}')}`);
    await colleague.getByRole('button', { name: /^accounts_/ }).first().click();
    await colleague.getByText('“***”').first().waitFor();
    expectNoFaults(colleague.context());

    // An address of before the filter leads to the same list.
    await page.goto('/console/settings/jobs?queue=mail&state=available');
    await page.getByText('State is available').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toBe('{"state":"available","queue":"mail"}');
    const jobs = page.getByRole('region', { name: 'Jobs' });
    await jobs.getByRole('button', { name: 'Cancel job' }).first().click();
    await dialog.getByLabel('Reason').fill('Nobody reads it.');
    await dialog.getByRole('button', { name: 'Cancel job' }).click();
    await told(page, 'The job is cancelled.');
    await visit(page, `/settings/jobs?query=${encodeURIComponent('{"queue":"mail","state":"cancelled"}')}`);
    await jobs.getByRole('button', { name: 'Try again' }).first().click();
    await told(page, 'The job is tried again.');
  } finally {
    await asRoot('POST', '/admin/queues/mail/resume').catch(() => undefined);
  }
  await page.goto('/console/settings/jobs');
  await queues.getByRole('row', { name: /^mail/ }).getByText('works').waitFor();
  expect(await banner.count()).toBe(0);
  expectNoFaults(page.context());
});

it('all jobs that a filter matches are cancelled and tried again by one act each', async () => {
  const page = await signedIn('root', {}, '/console/settings/jobs');
  await asRoot('POST', '/admin/queues/mail/pause', { reason: 'A test of many at once.' });
  try {
    for (const name of ['Ana Lote', 'Bia Lote', 'Caio Lote']) await signUp(name);
    await page.goto(`/console/settings/jobs?query=${encodeURIComponent('{"queue":"mail","state":"available"}')}`);
    const act = async (name: string, field?: string): Promise<void> => {
      await page.getByRole('button', { name: /^All \d+ that match/ }).click();
      const dialog = page.getByRole('dialog');
      const word = /Type (\d+)/.exec(await dialog.innerText())?.[1] ?? '';
      expect(Number(word)).toBeGreaterThanOrEqual(3);
      await dialog.getByLabel('What is done').selectOption({ label: name });
      if (field) await dialog.getByLabel('Reason').fill(field);
      await dialog.getByLabel(`Type ${word} to confirm`).fill(word);
      await dialog.getByRole('button', { name: `Do it to ${word}` }).click();
      const refused = dialog.getByText(/The filter matches \d+ records? now/);
      await page.getByText(`${name}: ${word} of ${word}`).or(refused).first().waitFor();
      if (await refused.isVisible()) { // other stories have mails sent meanwhile: who is refused looks, and confirms again
        await page.reload();
        return act(name, field);
      }
      await page.getByRole('button', { name: 'Close' }).click();
    };
    await act('cancel jobs', 'Nobody reads them.'); // other stories may have mails sent meanwhile
    await visit(page, `/settings/jobs?query=${encodeURIComponent('{"queue":"mail","state":"cancelled"}')}`);
    await page.getByRole('button', { name: 'Try again' }).nth(2).waitFor();
    await act('try jobs again');
    await page.getByText('Nothing matches').waitFor();

    // Who may not cancel one may not cancel many.
    const colleague = await signedIn('admin', {}, `/console/settings/jobs?query=${encodeURIComponent('{"queue":"mail","state":"available"}')}`);
    await colleague.getByRole('region', { name: 'Jobs' }).locator('tbody tr').first().waitFor();
    expect(await colleague.getByRole('button', { name: /^All \d+ that match/ }).count()).toBe(0);
    expectNoFaults(colleague.context());
  } finally {
    await asRoot('POST', '/admin/queues/mail/resume').catch(() => undefined);
  }
  expectNoFaults(page.context());
});
