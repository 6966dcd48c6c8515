import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, call, signUp, subscribed } from './people';

it('why a customer may watch is a sentence, notes stay with the staff, and what they see is shown for a while', async () => {
  const customer = await subscribed('Noemi Farias');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const access = page.getByRole('region', { name: 'Access' });
  await access.getByText('may watch', { exact: true }).waitFor();
  await access.getByText('The subscription is active').waitFor();

  const notes = page.getByRole('region', { name: 'Notes of the staff' });
  await notes.getByLabel('A new note').fill('<b>Calls</b> on Mondays');
  await notes.getByRole('button', { name: 'Add' }).click();
  await notes.getByText('<b>Calls</b> on Mondays').waitFor();
  await notes.getByRole('button', { name: 'Acts on this note' }).click();
  await page.getByRole('menuitem', { name: 'Pin' }).click();
  await notes.getByText('pinned').waitFor();

  await page.getByRole('button', { name: 'Acts on this customer' }).click();
  await page.getByRole('menuitem', { name: 'See what they see' }).click();
  await page.getByLabel('Reason').fill('They say the page is empty');
  await page.getByRole('button', { name: 'Look' }).click();
  const seen = page.getByRole('region', { name: 'What Noemi Farias sees' });
  await seen.getByText('Reading only, until').waitFor();
  await seen.getByText('Profile', { exact: true }).click();
  await seen.getByText(`“${customer.email}”`).waitFor();
  const { docs } = await asRoot<{ docs: { after: { reason: string } }[] }>(
    'GET', `/audit-log?query=${encodeURIComponent(JSON.stringify({ action: 'customer_view_as', record_id: customer.id }))}`);
  expect(docs.map(({ after }) => after.reason)).toEqual(['They say the page is empty']);

  await page.getByRole('button', { name: 'Acts on this customer' }).click();
  await page.getByRole('menuitem', { name: 'Disable sign-in' }).click();
  // Somebody else does the same meanwhile: it stays done.
  await asRoot('PUT', '/customers', [{ _id: customer.id, enable: false }]);
  await page.getByRole('dialog').getByRole('button', { name: 'Disable sign-in' }).click();
  await told(page, 'Sign-in is disabled');
  await access.getByText('account disabled').waitFor();
  const after = await asRoot<{ docs: { enable: boolean }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(after.docs.map(({ enable }) => enable)).toEqual([false]);

  await notes.getByRole('button', { name: 'Acts on this note' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await notes.getByText('<b>Calls</b> on Mondays').waitFor();
  await notes.getByRole('button', { name: 'Acts on this note' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await notes.getByText('<b>Calls</b> on Mondays').waitFor({ state: 'detached' });
  expectNoFaults(page.context());
});

it('why a customer may not watch is a sentence, of whoever never subscribed and of whoever has not paid', async () => {
  const customer = await signUp('Vera Prado');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const access = page.getByRole('region', { name: 'Access' });
  await access.getByText('may not watch', { exact: true }).waitFor();
  await access.getByText('The customer has never subscribed.').waitFor();
  await call('POST', '/gwa/subscribe/pix', customer.token, { plan_id: 'plus' });
  await page.reload();
  await access.getByText(/^The PIX code has not been paid/).waitFor();
  await access.getByText('may not watch', { exact: true }).waitFor();
  expectNoFaults(page.context());
});

it('what they see closes when its time is over, their data is a file, and root ends their sessions', async () => {
  const customer = await signUp('Rute Sales');
  const page = await signedIn('root', {}, `/console/customers/${customer.id}`);
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Acts on this customer' }).click();
    await page.getByRole('menuitem', { name }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('They asked for it');
  };
  await act('Export their data');
  const file = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export their data' }).click();
  expect(JSON.stringify(JSON.parse(await readFile(await (await file).path(), 'utf8')))).toContain(customer.email);

  await page.route('**/view-as', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json() as object, expiration: new Date(Date.now() + 4000).toISOString() } });
  });
  await act('See what they see');
  await page.getByRole('button', { name: 'Look' }).click();
  await page.getByText('The 15 minutes are over. What they see is closed.').waitFor();
  expect(await page.getByRole('region', { name: 'What Rute Sales sees' }).count()).toBe(0);

  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByRole('listitem').first().waitFor();
  await sessions.getByRole('button', { name: 'End all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End all' }).click();
  await sessions.getByText('Signed in nowhere').waitFor();
  expectNoFaults(page.context());
});

it('a view is saved and opened again, and all that match get a label by one act', async () => {
  for (const name of ['Lote Um', 'Lote Dois', 'Lote Tres']) await signUp(name);
  const query = encodeURIComponent('{"full_name":{"$regex":"^Lote"}}');
  const page = await signedIn('admin', {}, `/console/customers?query=${query}`);
  await page.getByText('1–3 of 3').waitFor();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('The lot');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await told(page);

  await page.getByRole('button', { name: 'All 3 that match' }).click();
  await page.getByLabel('Labels, with commas').fill('lot, swiss');
  await page.getByLabel('Type 3 to confirm').fill('3');
  await page.getByRole('button', { name: 'Do it to 3' }).click();
  await page.getByText('change customers: 3 of 3').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the result' }).click();
  expect((await download).suggestedFilename()).toBe('result.csv');
  const labelled = await asRoot<{ docs: { labels: string[] }[] }>('GET', `/customers?query=${encodeURIComponent('{"labels":"lot"}')}`);
  expect(labelled.docs.map(({ labels }) => labels)).toEqual([['lot', 'swiss'], ['lot', 'swiss'], ['lot', 'swiss']]);

  await page.goto(page.url().split('?')[0] ?? '');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'The lot', exact: true }).click();
  await page.getByText('1–3 of 3').waitFor();
  expectNoFaults(page.context());
});
