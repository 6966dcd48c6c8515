import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { testExport } from './export_story';
import { asRoot, subscribed } from './people';

interface Revenue { data: { date: string; net: number; gross: number; new_subscriptions: number }[]; totals: { net: number; gross: number } }
const money = (cents: number) => `BRL ${new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2 }).format(cents / 100)}`;

it('figures are those of the API, each with what it means, and lead to the rows behind them', async () => {
  await subscribed('Fina Ribeiro');
  const page = await signedIn('admin', {}, '/console/finance');
  const mrr = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'MRR', exact: true }) });
  await mrr.waitFor();
  const overview = await asRoot<{ mrr: number; active_subscriptions: number }>('GET', '/admin/finance/overview');
  expect((await mrr.locator('strong').innerText()).replace(/\s/g, ' ')).toBe(money(overview.mrr));
  await mrr.getByRole('button', { name: 'What MRR means' }).click();
  const { definitions } = await asRoot<{ definitions: { figure: string; formula: string }[] }>('GET', '/admin/finance/definitions');
  await page.getByText(definitions.find(({ figure }) => figure === 'MRR')?.formula ?? 'nothing', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await mrr.getByRole('link').click();
  await page.getByText('Status is active').waitFor();
  await page.getByText(new RegExp(`of ${String(overview.active_subscriptions)}$`)).waitFor();
  expectNoFaults(page.context());
});

it('revenue is shown for a period beside another, as bars and as a table', async () => {
  await subscribed('Renda Moraes');
  const page = await signedIn('admin', {}, '/console/finance/revenue?period=daily');
  const net = page.getByRole('region', { name: /^Net:/ });
  await net.locator('canvas').waitFor();
  await page.getByLabel('Compare with').selectOption('before');
  await page.getByRole('columnheader', { name: 'The period before' }).waitFor();
  expect(await net.locator('tbody tr').count()).toBe(30);
  const { data } = await asRoot<Revenue>('GET', '/admin/finance/revenue?period=daily');
  const last = data.at(-1);
  const cells = await net.locator('tbody tr').first().locator('td').allInnerTexts();
  expect(cells[1]?.replace(/\s/g, ' ')).toContain(money(last?.net ?? 0));
  expect(new URL(page.url()).searchParams.get('against')).toBe('before');
  const today = last?.date ?? ''; // of the platform's zone
  await page.goto(`/console/finance/revenue?period=daily&start=${today}&end=${today}`);
  await net.locator('tbody tr').first().waitFor();
  expect(await net.locator('tbody tr').count()).toBe(1);
  await net.getByRole('link', { name: String(last?.new_subscriptions ?? 0), exact: true }).last().click();
  await page.getByText(/Started since/).waitFor();
  expectNoFaults(page.context());
});

it('how MRR moved is the API’s, beside the months before, in words and as a table', async () => {
  await subscribed('Movi Prado');
  const page = await signedIn('admin', {}, '/console/finance/movements?months=6');
  const moved = page.getByRole('region', { name: 'How MRR moved by month' });
  await moved.locator('canvas').waitFor();
  for (const word of ['+ New', '+ Expansion', '+ Reactivation', '− Contraction', '− Churn']) await moved.locator('figure').getByText(word, { exact: true }).waitFor();
  const { monthly } = await asRoot<{ monthly: { opening: number; new: number; closing: number }[] }>('GET', '/admin/finance/movements?months=6');
  expect(await moved.locator('tbody tr').count()).toBe(6);
  const cells = (await moved.locator('tbody tr').first().locator('td').allInnerTexts()).map((text) => text.replace(/\s/g, ' '));
  const last = monthly.at(-1);
  expect([cells[1], cells[2], cells.at(-1)]).toEqual([money(last?.opening ?? 0), money(last?.new ?? 0), money(last?.closing ?? 0)]);
  await moved.getByRole('button', { name: 'What movements of a month means' }).click();
  await page.getByText(/= closing MRR/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Compare with').selectOption('year');
  await moved.getByRole('columnheader', { name: 'A year before' }).waitFor();
  await page.getByLabel('Months').selectOption('24');
  await expect.poll(() => moved.locator('tbody tr').count()).toBe(24);
  expect(await page.getByLabel('Compare with').isDisabled()).toBe(true);
  expectNoFaults(page.context());
});

interface Moved { kind: string; amount: number; customer_id: string; full_name: string }

it('each figure of the movements leads to the rows behind it, which add up to it', async () => {
  const [stays, leaves] = [await subscribed('Fica Prado'), await subscribed('Sai Prado')];
  await asRoot('PUT', '/subscriptions', [{ _id: stays.subscription, plan_id: 'premium' }]);
  await asRoot('PUT', '/subscriptions', [{ _id: leaves.subscription, status: 'cancelled' }]);
  const page = await signedIn('admin', {}, '/console/finance/movements?months=6');
  const moved = page.getByRole('region', { name: 'How MRR moved by month' });
  await moved.locator('tbody tr').first().waitFor();
  const { monthly } = await asRoot<{ monthly: (Record<string, number> & { month: string })[] }>('GET', '/admin/finance/movements?months=6');
  const last = monthly.at(-1);
  const month = last?.month ?? '';
  const names = { new: 'New', expansion: 'Expansion', reactivation: 'Reactivation', contraction: 'Contraction', churn: 'Churn' };
  for (const [kind, name] of Object.entries(names)) {
    const figure = last?.[kind] ?? 0;
    if (!figure) continue;
    await page.getByRole('listitem').filter({ hasText: name }).getByRole('link', { name, exact: true }).click();
    const rows = page.getByRole('region', { name: new RegExp(`^${name},`) });
    await rows.getByRole('heading', { name: `${name},` }).waitFor();
    await page.goBack();
    await moved.locator('tbody tr').first().locator('td').nth(2 + Object.keys(names).indexOf(kind)).getByRole('link').click();
    await rows.locator('tbody tr').first().waitFor();
    const head = (await rows.getByRole('heading').innerText()).replace(/\s/g, ' ');
    expect(head).toContain(money(figure));
    expect(head.includes('-')).toBe(['contraction', 'churn'].includes(kind));
    const { movements, total_amount: sum } = await asRoot<{ movements: Moved[]; total_amount: number }>('GET', `/admin/finance/movements/rows?start=${month}&end=${month}&kind=${kind}&limit=25`);
    expect(Math.abs(sum)).toBe(figure);
    expect(await rows.locator('tbody tr').count()).toBe(movements.length);
    await page.goto('/console/finance/movements?months=6');
    await moved.locator('tbody tr').first().waitFor();
  }
  expect([last?.['expansion'], last?.['churn']].every((cents) => (cents ?? 0) > 0)).toBe(true);
  await moved.locator('tbody tr').first().locator('td').nth(7).getByRole('link').click(); // the change of the month
  const all = page.getByRole('region', { name: /^Movements,/ });
  await all.locator('tbody tr').first().waitFor();
  expect((await all.getByRole('heading').innerText()).replace(/\s/g, ' ')).toContain(money((last?.['closing'] ?? 0) - (last?.['opening'] ?? 0)));
  await page.getByRole('combobox', { name: 'Movement' }).selectOption('expansion');
  await page.getByRole('region', { name: /^Expansion,/ }).getByRole('link', { name: 'Fica Prado' }).first().click();
  await page.getByRole('heading', { name: 'Fica Prado' }).waitFor();
  expectNoFaults(page.context());
});

it('revenue is told by payment method, and its figures lead to the payments behind them', async () => {
  await subscribed('Metoda Lins');
  const page = await signedIn('admin', {}, '/console/finance/revenue');
  const methods = page.getByRole('region', { name: 'Gross by payment method' });
  await methods.locator('tbody tr').first().waitFor();
  const { totals } = await asRoot<{ totals: { by_payment_method: Record<string, number> } }>('GET', '/admin/finance/revenue?by=payment_method');
  expect(totals.by_payment_method['credit_card']).toBeGreaterThan(0);
  await methods.getByRole('link').first().click();
  await page.getByText(/Method is /).waitFor();
  await page.getByText(/Paid since/).waitFor();
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('churn, cohorts and tenure are the API’s', async () => {
  await subscribed('Churra Dias');
  const page = await signedIn('admin', {}, '/console/finance/churn?months=6');
  await page.getByRole('region', { name: 'Churn by month' }).locator('tbody tr').first().waitFor();
  expect(await page.getByRole('region', { name: 'Churn by month' }).locator('tbody tr').count()).toBe(6);
  const { by_reason: reasons } = await asRoot<{ by_reason: Record<string, number> }>('GET', '/admin/finance/churn?months=6');
  expect(await page.getByRole('region', { name: 'Why they left' }).getByRole('listitem').count()).toBe(Object.keys(reasons).length);
  const { monthly } = await asRoot<{ monthly: { new: number }[] }>('GET', '/admin/finance/churn?months=6');
  await page.getByRole('region', { name: 'Churn by month' }).locator('tbody tr').first().locator('td').nth(2).getByRole('link').click();
  await page.getByRole('region', { name: /^New and back,/ }).getByText(`${String(monthly.at(-1)?.new)} rows`, { exact: true }).waitFor();
  await page.goto('/console/finance/cohorts');
  const cohorts = page.getByRole('region', { name: 'Who stays, by the month they came' });
  await cohorts.locator('tbody tr').first().waitFor();
  const { cohorts: months } = await asRoot<{ cohorts: { customers: number; retained: number[] }[] }>('GET', '/admin/subscriptions/insights?months=24');
  expect(await cohorts.locator('tbody tr').count()).toBe(months.length);
  expect(await cohorts.locator('tbody tr').first().locator('td').first().innerText()).toBe(String(months.at(-1)?.customers));
  expectNoFaults(page.context());
});

testExport(10_000);
