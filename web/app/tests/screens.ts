import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, bought, checkFile, giveMany, signUp, subscribed } from './people';

const drawn = process.env['PICTURES'] === '1';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = new URL('../../../docs/pictures/', import.meta.url).pathname;

type Rules = { runOnly: string[] };
const all: Rules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const contrast: Rules = { runOnly: ['color-contrast'] }; // what another scheme of the same layout can break

/** What axe finds on a page as it is. */
export async function violationsOf(page: Page, rules = all): Promise<string[]> {
  // Past the policy, which lets no script in.
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const results = await page.evaluate((options) => (window as unknown as { axe: { run: (o: object) => Promise<AxeResults> } })
    .axe.run(options), rules);
  return results.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`));
}

interface Look { name: string; width: number; height: number; scheme: 'light' | 'dark'; rules?: Rules; longer?: boolean }

const looks: Look[] = [
  { name: 'desk-light', width: 1440, height: 900, scheme: 'light', rules: all },
  { name: 'desk-dark', width: 1440, height: 900, scheme: 'dark', rules: contrast },
  { name: 'tablet-dark', width: 768, height: 1024, scheme: 'dark', rules: all },
  { name: 'phone-dark', width: 360, height: 640, scheme: 'dark', rules: all },
  { name: 'phone-light', width: 360, height: 640, scheme: 'light', rules: contrast },
  { name: 'zoom-200', width: 720, height: 450, scheme: 'light' }, // a desk at 200 %
  { name: 'longer-desk', width: 1440, height: 900, scheme: 'light', longer: true },
  { name: 'longer-phone', width: 360, height: 640, scheme: 'light' },
];

const chief = new Set(['home-desk-light', 'customer-desk-light', 'customer-phone-dark', 'webhook-desk-dark']);

/** The screens of the tour for new staff (docs/console.md), each on a desk. */
const tour = new Set(['home', 'customer', 'subscriptions', 'payments', 'webhook', 'film', 'catalog', 'event', 'promo', 'finance', 'revenue', 'movements', 'cohorts', 'board', 'settings', 'import', 'box-office', 'branding']);

const first = async (path: string) => (await asRoot<{ docs: { _id: string }[] }>('GET', `${path}?qty_docs_page=1`)).docs[0]?._id ?? '';

/** The screens about people and their money, and of the platform itself, by their names, and where they are. */
async function screensOfPeople(crowded: boolean): Promise<[name: string, path: string][]> {
  const customer = await subscribed('Marta Vilar');
  if (crowded) await crowd(customer.subscription);
  return [
    ['home', '/console/'], ['account', '/console/account'], ['customers', '/console/customers'],
    ['customer', `/console/customers/${customer.id}`], ['subscriptions', '/console/subscriptions'],
    ['overdue', '/console/subscriptions/overdue'], ['payments', '/console/payments'], ['settled', '/console/payments/settled'],
    ['disputes', '/console/payments/disputes'], ['refunded', '/console/payments/refunded'],
    ['unapplied', '/console/payments/unapplied'], ['webhooks', '/console/webhooks'],
    ['webhook', `/console/webhooks/${await first('/webhook-logs')}`], ['settings', '/console/settings'],
    ['jobs', '/console/settings/jobs'], ['invariants', '/console/settings/invariants'],
    ['explain', `/console/settings/explain?path=/customers&query=${encodeURIComponent('{"full_name":"Ana"}')}`],
    ['branding', '/console/settings/branding'], ['plans', '/console/settings/plans'], ['users', '/console/settings/users'], ['profiles', '/console/settings/profiles'],
    ['audit', '/console/settings/audit'], ['entry', `/console/settings/audit/${await first('/audit-log')}`],
    ['nothing', '/console/nothing'],
  ];
}

/** The screens of what is watched, sold and counted. */
async function screensOfRooms(crowded: boolean): Promise<[name: string, path: string][]> {
  const customer = await subscribed('Marta Vilar');
  if (crowded) await crowd(customer.subscription);
  const shown = await makeRooms(crowded);
  if (crowded) {
    giveMany(shown.event, 0, 38);
    for (const sale of [{ quantity: 2, method: 'cash' }, { quantity: 3, method: 'card_machine' }, { quantity: 1, method: 'courtesy', note: 'The critic of the Folha' }]) {
      await asRoot('POST', `/events/${shown.event}/box-office-sales`, sale);
    }
  }
  return [
    ['catalog', '/console/catalog'], ['films', '/console/catalog?as=table'], ['film', `/console/catalog/${await first('/videos')}`],
    ['pictures', `/console/catalog/${await first('/videos')}?part=pictures`], ['groups', `/console/catalog/${await first('/videos')}?part=groups`],
    ['categories', '/console/catalog/categories'], ['imports', '/console/catalog/imports'], ['import', `/console/catalog/imports/${shown.file}`], ['seasons', '/console/catalog/seasons'], ['season', `/console/catalog/seasons/${shown.season}`],
    ['events', '/console/events'], ['event', `/console/events/${shown.event}`], ['guests', `/console/events/${shown.event}/guests`],
    ['orders', `/console/events/${shown.event}/orders`], ['order', `/console/events/orders/${shown.order}`], ['box-office', `/console/events/${shown.event}/box-office`], ['event-edit', `/console/events/${shown.event}/edit`],
    ['promos', '/console/promos'], ['promo', `/console/promos/${shown.promo}`], ['finance', '/console/finance'],
    ['revenue', '/console/finance/revenue?against=before'], ['movements', '/console/finance/movements?months=6&against=before'], ['movement-rows', '/console/finance/movements/rows'], ['churn', '/console/finance/churn'], ['cohorts', '/console/finance/cohorts'],
    ['exports', '/console/finance/exports'], ['definitions', '/console/finance/definitions'], ['board', '/console/board'],
    ['card', `/console/board?card=${shown.card}`],
  ];
}

interface Made { _id: string }

/** Something to see in each of the rooms: a season, an event that sells, a family of codes, cards. */
async function makeRooms(crowded: boolean) {
  const mark = Math.random().toString(36).slice(2, 10); // those who begin in the same millisecond differ, too
  const post = async (path: string, bodies: object[]) => (await asRoot<{ docs: Made[] }>('POST', path, bodies)).docs.map(({ _id }) => _id);
  const [season] = await post('/seasons', [{ name: 'O Pátio, segundo ano', slug: `patio-${mark}`, number: 2 }]);
  await post('/videos', ['A chegada', 'O vizinho', 'Chuva de março'].map((title, i) => ({
    title, slug: `patio-${mark}-${String(i)}`, video_id: 'https://videos.example.com/1', duration: 48 + i, release_date: '2024-01-02', season_id: season, episode_number: i + 1,
  })));
  const [event] = await post('/events', [{
    title: 'Limite, com orquestra', event_type: 'screening', event_date: new Date(Date.now() + 30 * 864e5).toISOString(), location: 'Cine Belas Artes, São Paulo',
    capacity: 60, ticket_value: 40, is_sale_box_office: true, description: 'A cópia restaurada, com música ao vivo.',
  }]);
  let order = '';
  for (const [i, name] of ['Rosa Amaral', 'Davi Nunes', 'Sílvia Prates'].entries()) order = await bought(await signUp(name), event ?? '', i + 1);
  await asRoot('POST', `/admin/ticket-orders/${order}/refund`, { reason: 'One of them is ill', ticket_ids: (await asRoot<{ tickets: Made[] }>('GET', `/admin/ticket-orders/${order}`)).tickets.slice(0, 1).map(({ _id }) => _id) });
  await asRoot('POST', `/events/${event ?? ''}/box-office-sales`, { quantity: 1, method: 'cash' }); // to nobody by name
  const ticket = { code_type: 'ticket', event_id: event, title: 'Convite da casa', bonus_tickets: 2 };
  const children = await post('/admin/promo-codes', [{ ...ticket }, { code_type: 'promo', title: 'Meio mês', discount_first_month: 14.9 }]);
  const [promo] = await post('/admin/promo-codes', [{ code_type: 'promo', title: 'Verão no cinema', subtitle: 'Primeiro mês por R$ 9,90', discount_first_month: 9.9, children_code_ids: children }]);
  const columns = await post('/admin/requisition-status', [['A fazer', '#8a8d99'], ['Fazendo', '#2b59c3'], ['Feito', '#19804d']].map(([name = '', color], index) => ({ name: crowded ? name : `${name} ${mark}`, index, color })));
  const [card] = await post('/admin/requisitions', [
    { name: 'Legendas de Limite fora de tempo', priority: 'urgent', status_id: columns[0], description: ['A partir do minuto 43.'] }, { name: 'Novo trailer para a página', priority: 'low', status_id: columns[0] },
    { name: 'Conferir contrato da sala', priority: 'high', status_id: columns[1] }, { name: 'Cartaz da sessão com orquestra', priority: 'medium', status_id: columns[2] },
    ...(crowded ? ([
      ['Carta ao acervo sobre O pátio', 'medium', 0], ['Legendas em inglês para a mostra', 'high', 0], ['Recontar lugares da sala 2', 'low', 0], ['Revisar textos de cobrança', 'high', 1],
      ['Trocar o projetor reserva', 'urgent', 1], ['Fotos do debate de outubro', 'low', 2], ['Aviso de acessibilidade na página', 'medium', 2],
    ] as const).map(([name, priority, at]) => ({ name, priority, status_id: columns[at] })) : []),
  ]);
  const file = await checkFile([
    'title,slug,video_id,duration,release_date,age_rating', `O farol,farol-${mark},https://videos.example.com/1,90,2024-01-02,12`, `Rio abaixo,rio-${mark},https://videos.example.com/2,104,2021-08-19,L`,
    `Sem endereço,sem-${mark},,90,2024-01-02,`, `A última sessão,ultima-${mark},https://videos.example.com/3,88,2019-03-07,16`, `Noite clara,noite-${mark},https://videos.example.com/4,noventa,2020-10-30,10`, '',
  ].join('\n'));
  return { file, season: season ?? '', event: event ?? '', order, promo: promo ?? '', card: card ?? '' };
}

/** Every text longer by two fifths, as in a language that takes more room. */
async function lengthen(page: Page) {
  await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.nodeValue ?? '';
      if (text.trim()) texts.currentNode.nodeValue = text + 'ẽẽẽẽ ẽẽẽ'.repeat(text.length).slice(0, Math.ceil(text.length * 0.4));
    }
  });
}

/** The test of every screen in a language: axe finds nothing, nothing scrolls sideways, and there is no fault. */
export function testScreens(locale: 'en-GB' | 'pt-BR', of: 'people' | 'rooms') {
  it(`every screen of ${of} in ${locale} is found nothing in, from phones to desks, light and dark, zoomed and with longer words`, async () => {
    const screens = await (of === 'rooms' ? screensOfRooms : screensOfPeople)(drawn && locale === 'en-GB');
    const page = await signedIn('root', { locale });
    await page.route('**/admin/requisitions/events', (route) => route.fulfill({ status: 404 })); // no network rests with a stream
    for (const [screen, path] of screens) {
      await page.goto(path);
      await page.locator('main h1, main .title').first().waitFor();
      await page.waitForLoadState('networkidle');
      for (const { name, width, height, scheme, rules, longer } of looks) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: scheme });
        if (longer) await lengthen(page);
        // What a page changes with its size comes with the frame after.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        if (rules) expect(await violationsOf(page, rules), `${screen}, ${name}`).toEqual([]);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(sideways, `${screen}, ${name}, scrolls sideways`).toBeLessThanOrEqual(0);
        if (drawn && locale === 'en-GB' && (chief.has(`${screen}-${name}`) || (tour.has(screen) && name === 'desk-light'))) {
          mkdirSync(pictures, { recursive: true });
          await page.screenshot({ path: `${pictures}${screen}-${name}.png` });
        }
      }
    }
    expectNoFaults(page.context());
  });
}

/** What makes pictures look lived in: more customers, and half of one's money given back. */
async function crowd(subscription: string) {
  const names = ['Luana Teles', 'Otávio Brandão', 'Nadir Fontes', 'Caio Bragança', 'Estela Antunes', 'Ziraldo Pimenta', 'Breno Sales'];
  for (const [i, name] of names.entries()) await subscribed(name, i % 3 ? 'plus' : 'basic');
  await asRoot('POST', `/admin/gwb/subscriptions/${subscription}/refund`, { amount: 1495, reason: 'Half a month without sound' });
}
