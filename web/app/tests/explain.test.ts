import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';

it('root sees the statement and the plan of a list, which the address brings again, and what is refused at its field', async () => {
  const query = '{"full_name":{"$regex":"^A"}}';
  const page = await signedIn('root', {}, `/console/customers?query=${encodeURIComponent(query)}&sort=${encodeURIComponent('{"full_name":1}')}`);
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('link', { name: 'How a list is read' }).click();
  const statement = page.getByRole('region', { name: 'Statement' });
  await statement.getByText(/SELECT .*accounts\.users.*\$1.*LIMIT 25/s).first().waitFor();
  await statement.getByText('$1 = ').first().waitFor();
  const plan = page.getByRole('region', { name: 'Plan' });
  await plan.getByText(/ms$/).waitFor();
  await plan.getByText('Node Type').first().waitFor();
  expect(await page.getByLabel('List', { exact: true }).inputValue()).toBe('/customers');

  // Typing asks for nothing: a statement is explained once, by the button.
  let asked = 0;
  page.on('request', (request) => { if (request.url().endsWith('/admin/query/explain')) asked++; });
  const typed = page.getByLabel('Query', { exact: true });
  await typed.clear();
  await typed.pressSequentially('{"full_name":{"$near":1}}');
  await statement.waitFor();
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText(/query\.full_name.*unknown or unsupported operator/).waitFor();
  expect(await statement.count()).toBe(0);
  expect(asked).toBe(1);

  await page.getByLabel('List', { exact: true }).selectOption('/webhook-logs');
  await page.getByLabel('Query', { exact: true }).fill('{"gateway":"gwb"}');
  await page.getByLabel('Sort', { exact: true }).fill('{"received_at":-1}');
  await page.getByRole('button', { name: 'Explain' }).click();
  await statement.getByText(/payments\.webhook_logs/).first().waitFor();
  await page.reload();
  await statement.getByText(/payments\.webhook_logs/).first().waitFor();
  expect(await page.getByLabel('Query', { exact: true }).inputValue()).toBe('{"gateway":"gwb"}');
  expectNoFaults(page.context());
});

it('others are told which right they lack', async () => {
  const page = await signedIn('admin', {}, '/console/settings/explain');
  await page.getByText('For root users only').waitFor();
  expect(await page.getByRole('link', { name: 'Query plans' }).count()).toBe(0);
  expectNoFaults(page.context());
});
