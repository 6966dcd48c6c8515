import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { signUp } from './people';

it('chips write the filter, the filter writes chips, and the address brings all of it again', async () => {
  await signUp('Zélia Quirino');
  const page = await signedIn('admin', {}, '/console/customers');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Name' });
  await page.getByLabel('Value').fill('quirino');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Name contains quirino').waitFor();
  await page.getByRole('link', { name: 'Zélia Quirino' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('query')).toBe('{"full_name":{"$regex":"quirino","$options":"i"}}');

  await page.getByRole('button', { name: 'Query' }).click();
  const json = page.getByRole('textbox', { name: /The filter as the API takes it/ });
  expect(JSON.parse(await json.inputValue())).toEqual({ full_name: { $regex: 'quirino', $options: 'i' } });
  await json.fill('{"full_name": {"$near": 1}}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(/query\.full_name.*unknown or unsupported operator/).waitFor();
  await json.fill('{"email_verified": false, "enable": true}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Verified is no').waitFor();
  await page.getByText('May sign in is yes').waitFor();

  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('/api/v1/customers?query=');
  expect(copied).toContain('Authorization: Bearer $TOKEN');

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Phone' }).check();
  await page.getByRole('button', { name: 'Created' }).click();
  await page.getByRole('columnheader', { name: /Created/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  await page.reload();
  await page.getByText('Verified is no').waitFor();
  await page.getByRole('columnheader', { name: 'Phone' }).waitFor();
  await page.getByRole('columnheader', { name: /Created/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  await page.getByRole('button', { name: 'Remove the filter Verified is no' }).click();
  expect(await page.getByText('Verified is no').count()).toBe(0);
  expectNoFaults(page.context());
});

it('pages come from the server, 25 rows each, and back returns to where one was', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, i) => signUp(`Paginado Silva ${String(i).padStart(2, '0')}`)));
  const page = await signedIn('admin', {}, `/console/customers?query=${encodeURIComponent('{"full_name":{"$regex":"^Paginado"}}')}&sort=${encodeURIComponent('{"full_name":1}')}`);
  await page.getByText('1–25 of 30').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(25);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('26–30 of 30').waitFor();
  const last = page.getByRole('link', { name: 'Paginado Silva 29' });
  await last.click();
  await page.getByRole('heading', { name: 'Paginado Silva 29' }).waitFor();
  await page.goBack();
  await page.getByText('26–30 of 30').waitFor();
});

it('a list without a match says how to get out, and one that is refused keeps its rows', async () => {
  const page = await signedIn('admin', {}, '/console/customers?q=nobodyiscalledthis');
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('tbody tr').first().waitFor();
});

it('search takes half a name without accents, an e-mail, a tax id and an id of ours', async () => {
  const customer = await signUp('Conceição Araújo');
  const page = await signedIn('admin');
  for (const typed of ['conceicao ara', customer.email, customer.taxID, customer.id]) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(typed);
    await page.getByRole('option').first().and(page.getByRole('option', { name: 'Conceição Araújo' })).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Conceição Araújo' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  }
  expectNoFaults(page.context());
});
