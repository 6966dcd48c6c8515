import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, bought, call, giveMany, signUp, until } from './people';

interface Event { _id: string; title: string; cancelled_at: string | null; location: string; capacity: number | null }
const ahead = (days: number) => new Date(Date.now() + days * 864e5).toISOString();

async function newEvent(title: string): Promise<string> {
  const { docs: [event] } = await asRoot<{ docs: Event[] }>('POST', '/events', [{
    title: `${title} ${String(Date.now() % 1e7)}`, event_type: 'screening', event_date: ahead(20), location: 'Sala 1', capacity: 50, ticket_value: 30, is_sale_box_office: true,
  }]);
  return event?._id ?? '';
}
const eventOf = async (id: string) => (await asRoot<{ docs: Event[] }>('GET', `/events?_id=${id}`)).docs[0];

it('an event is made, edited with a picture, and seen at the store', async () => {
  const title = `Sessão do console ${String(Date.now() % 1e7)}`;
  const page = await signedIn('admin', {}, '/console/events');
  await page.getByRole('button', { name: 'New event' }).click();
  const form = page.getByRole('dialog', { name: 'New event' });
  await form.getByLabel('Title').fill(title);
  await form.getByLabel('Begins').fill('2031-05-17T20:30');
  await form.getByLabel('Place').fill('Cinemateca');
  await form.getByLabel('Price').fill('32.50');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: title }).waitFor();
  const id = new URL(page.url()).pathname.split('/').pop() ?? '';
  await page.getByText('Nothing is sold yet').waitFor();

  await page.getByRole('link', { name: 'Edit' }).click();
  const picture = page.getByRole('group', { name: 'Picture', exact: true });
  await picture.locator('input[type=file]').setInputFiles(new URL('../../../docs/pictures/home-desk-light.png', import.meta.url).pathname);
  await page.getByRole('button', { name: 'Use it' }).click();
  await picture.getByRole('img', { name: 'Picture' }).waitFor();
  await page.getByRole('checkbox', { name: 'On sale' }).last().check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('on sale', { exact: true }).first().waitFor();
  const store = await call<{ title: string; ticket_value: number; event_date: string; image_url: string | null }>('GET', `/store/events/${id}`, '');
  expect(store).toMatchObject({ title, ticket_value: 32.5, event_date: '2031-05-17T23:30:00.000Z' });
  expect((await page.request.get(store.image_url ?? '')).status()).toBe(200);
  expectNoFaults(page.context());
});

it('an event shows how it sold and who comes, and gives back an order by ticket and whole', async () => {
  const id = await newEvent('Venda');
  const [ana, bia] = [await signUp('Ana Compra'), await signUp('Bia Compra')];
  await bought(ana, id, 3);
  await bought(bia, id, 2);
  const page = await signedIn('admin', {}, `/console/events/${id}`);
  await page.getByText('5 / 50').waitFor();
  await page.getByText('BRL 150.00').waitFor();
  await page.getByText('in 2 orders').waitFor();
  const sale = page.getByRole('region', { name: 'Places sold over time' });
  await sale.locator('canvas').waitFor();
  await sale.getByText('As a table').click();
  expect(await sale.locator('tbody tr').first().innerText()).toMatch(/\t5$/);

  await page.getByRole('link', { name: 'Guests' }).click();
  await page.getByText('1–5 of 5').waitFor();
  await page.getByRole('navigation', { name: 'Parts of the event' }).getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('button', { name: 'Refund the order of Ana Compra' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(2);
  await page.getByRole('button', { name: 'Refund the order of Ana Compra' }).click();
  const dialog = page.getByRole('dialog');
  await expect.poll(() => dialog.getByRole('checkbox', { checked: true }).count()).toBe(3);
  await dialog.getByRole('checkbox').nth(0).uncheck();
  await dialog.getByRole('checkbox').nth(1).uncheck();
  await dialog.getByLabel('Reason').fill('One of three is ill');
  await dialog.getByRole('button', { name: 'Refund BRL 30.00' }).click();
  await told(page, 'BRL 30.00 is being refunded');
  await page.getByRole('row', { name: /Ana Compra/ }).getByText('partly refunded').waitFor();

  await page.getByRole('button', { name: 'Refund the order of Bia Compra' }).click();
  await dialog.getByLabel('Reason').fill('The whole of it');
  await dialog.getByRole('button', { name: 'Refund BRL 60.00' }).click();
  await told(page, 'BRL 60.00 is being refunded');
  const refunded = await until(async () => {
    const { orders } = await asRoot<{ orders: { customer_name: string; refunded: number }[] }>('GET', `/admin/events-dashboard/events/${id}`);
    return orders.every((one) => one.refunded > 0) ? orders : undefined;
  });
  expect(Object.fromEntries(refunded.map((one) => [one.customer_name, one.refunded]))).toEqual({ 'Ana Compra': 30, 'Bia Compra': 60 });
  expectNoFaults(page.context());
});

it('moving an event and calling it off name how many people they write to', async () => {
  const id = await newEvent('Mudança');
  await bought(await signUp('Caio Muda'), id, 2);
  await bought(await signUp('Dora Muda'), id, 1);
  const page = await signedIn('admin', {}, `/console/events/${id}`);
  await page.getByRole('button', { name: 'Acts' }).click();
  await page.getByRole('menuitem', { name: 'Move the event' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('So small a change is written to nobody.').waitFor();
  await dialog.getByLabel('Place').fill('Sala 2');
  await dialog.getByText('It writes to 2 people.').waitFor();
  await dialog.getByRole('button', { name: 'Move the event' }).click();
  await told(page, 'The event is moved');
  expect((await eventOf(id))?.location).toBe('Sala 2');

  await page.getByRole('button', { name: 'Acts' }).click();
  await page.getByRole('menuitem', { name: 'Call off the event' }).click();
  await dialog.getByText('It writes to 2 people.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Call off the event' }).isEnabled()).toBe(false);
  await dialog.getByLabel('Reason').fill('The projector broke');
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await dialog.getByRole('button', { name: 'Call off the event' }).click();
  await told(page, 'The event is called off');
  expect((await eventOf(id))?.cancelled_at).not.toBeNull();
  await page.getByRole('region', { name: 'called off' }).getByText(/^2 · BRL\s90\.00$/).waitFor(); // as its refunds come, without a reload
  expectNoFaults(page.context());
});

it('an event is rated, and shows the sign with its words and reasons at its head and at the store', async () => {
  const id = await newEvent('Classificada');
  const page = await signedIn('admin', {}, `/console/events/${id}/edit`);
  await page.getByLabel('Age rating').selectOption('16');
  await page.getByLabel('Rated for').fill('violência');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('from 16 years · violência').waitFor();
  await page.reload();
  await page.getByText('from 16 years · violência').waitFor();
  expect(await call<object>('GET', `/store/events/${id}`, '')).toMatchObject({ age_rating: '16', rating_reasons: ['violência'] });
  expectNoFaults(page.context());
});

it('an event of twenty thousand tickets shows its sale, its guests and its orders by the page', async () => {
  const { docs: [event] } = await asRoot<{ docs: Event[] }>('POST', '/events', [{
    title: `Multidão ${String(Date.now() % 1e7)}`, event_type: 'screening', event_date: ahead(20), location: 'Sala 1', ticket_value: 40, is_sale_box_office: true,
  }]);
  const id = event?._id ?? '';
  giveMany(id, 4000, 16_000);
  const page = await signedIn('admin', {}, `/console/events/${id}`);
  const shown = () => page.locator('main tr, main li').count();
  await page.getByText('20,000', { exact: true }).first().waitFor();
  await page.getByText('in 8,000 orders').waitFor();
  await page.getByRole('region', { name: 'Places sold over time' }).locator('canvas').waitFor();
  expect(await shown()).toBeLessThanOrEqual(200);
  await page.goto(`/console/events/${id}/guests?size=100`);
  await page.getByText('1–100 of 20,000').waitFor();
  expect(await shown()).toBeLessThanOrEqual(200);
  await page.goto(`/console/events/${id}/orders?size=100`);
  await page.locator('tbody tr').first().waitFor();
  expect(await shown()).toBeLessThanOrEqual(200);
  expectNoFaults(page.context());
});
