import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, makeMany } from './people';

/** Story 7, over so many rows: a hundred thousand of them are for a quiet machine (bench). */
export function testExport(rows: number) {
  it(`story 7: an export of ${rows.toLocaleString('en')} rows shows progress, is stopped, begun anew, and downloaded after the page was closed`, async () => {
    makeMany(rows);
    const page = await signedIn('root', {}, '/console/finance/exports');
    await page.getByLabel('What').selectOption('customers');
    await page.getByLabel('Format').selectOption('json');
    const list = page.getByRole('region', { name: 'Exports' });
    const done = list.getByText('done', { exact: true });
    // However fast it would be, it is there to be stopped.
    await asRoot('POST', '/admin/queues/export/pause', { reason: 'A test of what is stopped.' });
    try {
      await page.getByRole('button', { name: 'Begin the export' }).click();
      await list.getByRole('progressbar').waitFor();
      await list.getByText(/^\d+ %/).waitFor();
      await list.getByRole('button', { name: 'Stop it' }).click();
      await page.getByText('No exports yet').waitFor();
    } finally {
      await asRoot('POST', '/admin/queues/export/resume').catch(() => undefined);
    }

    await page.getByRole('button', { name: 'Begin the export' }).click();
    await list.getByText(/^[1-9]\d* %/).or(done).first().waitFor();
    const context = page.context();
    await page.goto('about:blank'); // the page is closed
    await page.goto('/console/finance/exports');
    await done.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    const written = Object.values(JSON.parse(await readFile(await download.path(), 'utf8')) as Record<string, unknown[]>)[0]?.length ?? 0;
    const { pagination: { qty_total_docs: total } } = await asRoot<{ pagination: { qty_total_docs: number } }>('GET', '/customers?qty_docs_page=1');
    expect(written).toBeGreaterThanOrEqual(rows);
    expect(Math.abs(total - written)).toBeLessThan(100); // other tests sign customers up meanwhile
    expectNoFaults(context);
  });
}
